// The main window: an application appears, and everything can be stopped from there.

import assert from 'node:assert/strict';

import { answer, answerInList } from './answers.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, MINUTES, ONCE } from './words.mjs';
import { Buyer, connected, Shop } from './world.mjs';

const TAB = '\uE004';
const ENTER = '\uE007';

// holds: desktop-copy-token
test('a new application gets a token by the clipboard, connects with it and is shown', options, onStage({}, async (stage) => {
  const app = await stage.app();
  const main = await app.running();
  await main.click('button', /^New application/);
  await main.fill(/Client ID/, 'shop');
  await main.click('button', /^Copy token/);
  const token = await until('a token in the clipboard', async () => /^ey[\w-]+\.[\w-]+\.[\w-]+$/.exec(await stage.clipboard())?.[0]);
  const shop = await Shop.open(stage, token);
  await main.says('shop');
  await main.says(/Connected/);
  const { snapshot, known, pins } = await until('the application to be seen', async () => {
    const view = await main.view();
    return view.snapshot.applications.length === 1 && view.pins.length === 1 && view;
  });
  assert.equal(snapshot.applications[0].id, 'shop');
  assert.equal(known[0].application, 'shop');
  assert.deepEqual(pins.map((pin) => pin.application), ['shop']);
  assert.equal(shop.state.status, 'online');
}));

// holds: desktop-approvals-keyboard
test('a question can be answered by keyboard alone, where Deny comes first', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  await toApprovals(stage, app, main);
  const tea = buyer.order('tea');
  await until('the question in the window', async () => (await main.text()).includes('tea'));
  await until('the focus at Deny', async () => DENY.test(await main.focus()));
  // No answer counts before the question was painted, which the page shows when it also was in view for long enough.
  await until('a question that can be answered', () => main.isReady('button', ONCE));
  await main.picture('approvals-question');
  await answerInList(main, DENY, () => main.press(ENTER));
  assert.equal(await tea, 'declined');

  const milk = buyer.order('milk');
  await until('the question in the window', async () => (await main.text()).includes('milk'));
  await until('the focus at Deny', async () => DENY.test(await main.focus()));
  // Round the page, one stop after another, to the button that allows it.
  await until('the focus at Allow once', async () => {
    if (ONCE.test(await main.focus())) return true;
    await main.press(TAB);
    return false;
  });
  await answerInList(main, ONCE, () => main.press(ENTER));
  assert.equal(await milk, 'ordered milk');
  assert.deepEqual(shop.orders, ['milk']);
}));

// holds: desktop-pause
test('pausing answers every call at once, until it is resumed', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const waiting = buyer.order('tea');
  await app.question();
  await main.click('button', /^Pause/);
  assert.equal(await waiting, 'paused');
  await app.noQuestion();
  assert.equal(await buyer.order('milk'), 'paused');
  await main.says('Paused');
  await main.click('button', /^Resume/);
  await until('calls to go on', async () => !(await main.view()).snapshot.paused);
  const salt = buyer.order('salt');
  await answer(await app.question(), ONCE);
  assert.equal(await salt, 'ordered salt');
}));

// holds: desktop-block
test('a blocked application is not asked about, and its calls are refused', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  const waiting = buyer.order('tea');
  await app.question();
  await toShop(main);
  await main.clickForDialog('radio', 'Block');
  assert.deepEqual((await main.view()).snapshot.modes, [], 'nothing is done before it was confirmed');
  await main.confirm(['Block all calls of “shop”?', 'Every call is refused from now on, waiting ones too'], 'Block');
  assert.equal(await waiting, 'blocked');
  await app.noQuestion();
  assert.equal(await buyer.order('milk'), 'blocked');
  assert.deepEqual(shop.orders, []);
}));

// holds: desktop-revoke
test('a revoked agent is cut off, and another one goes on', options, onStage({}, async (stage) => {
  const { app, main, buyer, shop } = await connected(stage);
  const other = new Buyer(stage, await app.token('agent', 'shop', 'other'));
  const waiting = buyer.order('tea');
  await app.question();
  await toShop(main);
  // The first of the list was made first.
  await main.clickForDialog('button', /^Revoke…$/, 'Agents');
  await main.confirm(['Revoke this agent of “shop”?', 'buyer', 'Its tokens are refused from now on, for good.', 'Other agents go on.'], 'Revoke');
  await assert.rejects(waiting);
  await app.noQuestion();
  await assert.rejects(buyer.tools());
  assert.deepEqual(await other.tools(), ['order']);
  // The application's own tokens are another matter.
  assert.equal(shop.state.status, 'online');
  await main.clickForDialog('button', /^Revoke all…$/, 'Client tokens');
  await main.confirm(['Revoke all client tokens of “shop”?', 'Its connection is closed and its calls end.'], 'Revoke all');
  await until('the application to be cut off', () => shop.state.status === 'refused');
}));

// holds: desktop-grants
test('a grant is listed, and ends when it is taken back', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), MINUTES);
  assert.equal(await tea, 'ordered tea');
  await toApprovals(stage, app, main);
  await main.says('order');
  await main.picture('approvals-grant');
  await until('one rule', async () => (await main.view()).snapshot.rules.length === 1);
  await main.click('button', 'Remove');
  await main.says('No rules yet.');
  // While that page is in front, a question is put there alone.
  await main.open('Applications');
  const milk = buyer.order('milk');
  await answer(await app.question(), DENY);
  assert.equal(await milk, 'declined');
}));

/** To all that is known of the shop. */
async function toShop(main) {
  await main.open('Applications');
  await main.click('button', /shop/);
  await main.says('When an agent calls');
}

async function toApprovals(stage, app, main) {
  await main.open('Approvals');
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
}
