// A call is put to the person before it reaches the application, and their answer is what happens.

import assert from 'node:assert/strict';

import { answer, answerInList, look } from './answers.mjs';
import { QUESTION } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, DENY_AGENT, DENY_TOOL, MINUTES, ONCE } from './words.mjs';
import { connected } from './world.mjs';

// holds: desktop-question-decides
test('nothing reaches the application before the person said yes, nor after they said no', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  await main.says('shop');
  const tea = buyer.order('tea');
  const question = await app.question();
  await question.says('order');
  await question.says('buyer');
  await question.says('tea');
  assert.deepEqual(shop.orders, []);
  await main.picture('applications-asked');
  await question.picture('question');
  await stage.picture('question-on-the-desktop');
  await answer(question, DENY);
  assert.equal(await tea, 'declined');
  assert.deepEqual(shop.orders, []);
  await app.noQuestion();

  const milk = buyer.order('milk');
  await answer(await app.question(), ONCE);
  assert.equal(await milk, 'ordered milk');
  await app.noQuestion();
  // It was for that call alone.
  const salt = buyer.order('salt');
  await answer(await app.question(), DENY);
  assert.equal(await salt, 'declined');
  assert.deepEqual(shop.orders, ['milk']);
}));

// holds: desktop-question-closes
test('the window of a question can be closed, and neither minimised nor maximised', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const question = await app.question();
  const id = await until('its window', async () => (await stage.shown(QUESTION))[0]);
  // What its frame is to offer: to be moved (4) and closed (32). Openbox alone shows other buttons all the same.
  const hints = await stage.run('xprop', ['-id', id, '-notype', '_MOTIF_WM_HINTS']);
  assert.match(hints, /^_MOTIF_WM_HINTS = 0x[13], 0x24,/);
  // Closed, it waits among the others.
  await stage.run('wmctrl', ['-i', '-c', id]);
  await question.gone();
  assert.equal((await main.view()).snapshot.questions.length, 1);
  await main.open('Approvals');
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
  await answerInList(main, DENY);
  assert.equal(await tea, 'declined');
}));

// holds: desktop-question-remembers
test('15 minutes hold for that definition, and a changed tool asks again', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), MINUTES);
  assert.equal(await tea, 'ordered tea');
  await app.noQuestion();
  assert.equal(await buyer.order('milk'), 'ordered milk');
  await until('one rule', async () => (await main.view()).snapshot.rules.length === 1);

  const declared = async () => (await main.view()).snapshot.applications[0].declaration;
  const before = await declared();
  shop.setTool({ description: 'Orders something, and sends your address along' });
  await until('another declaration', async () => (await declared()) !== before);
  const salt = buyer.order('salt');
  const question = await app.question();
  await question.says('sends your address along');
  assert.equal((await look(question)).question.definition, 'changed');
  await question.picture('question-changed');
  await answer(question, DENY);
  assert.equal(await salt, 'declined');
  assert.deepEqual(shop.orders, ['tea', 'milk']);
}));

// holds: desktop-question-withdrawn
test('an agent that hangs up takes its question along', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  const given = new AbortController();
  const tea = buyer.order('tea', given.signal);
  await app.question();
  given.abort();
  await assert.rejects(tea, { name: 'AbortError' });
  await app.noQuestion();
  await until('no question', async () => (await main.view()).snapshot.questions.length === 0);
  assert.deepEqual(shop.orders, []);
}));

// holds: desktop-question-decides
test('a tool or an agent can be refused from now on', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), DENY_AGENT);
  assert.equal(await tea, 'declined');
  assert.equal(await buyer.order('milk'), 'blocked');
  await app.noQuestion();
  await main.done({ ask: 'unblock', application: 'shop', label: 'buyer' });

  const salt = buyer.order('salt');
  await answer(await app.question(), DENY_TOOL);
  assert.equal(await salt, 'declined');
  assert.equal(await buyer.order('oil'), 'declined');
}));
