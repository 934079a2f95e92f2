// What a window can do, were its page taken over: ask and hear what is its own, and no more.

import assert from 'node:assert/strict';

import { answer, look } from './answers.mjs';
import { desktop, MAIN, QUESTION } from './app.mjs';
import { freePort } from './processes.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY } from './words.mjs';
import { Buyer, connected, Shop } from './world.mjs';

const EVENTS = ['view', 'finished', 'question', 'tauri://window-created', 'tauri://focus'];

/** As whom a page can say that it listens. */
const TARGETS = [
  { kind: 'Any' },
  { kind: 'App' },
  ...['AnyLabel', 'Window', 'Webview', 'WebviewWindow'].map((kind) => ({ kind, label: 'main' })),
];

/** What no page is given. */
const REFUSED = [
  ['plugin:event|emit', { event: 'view', payload: {} }],
  ['plugin:event|emit_to', { event: 'view', payload: {}, target: { kind: 'Any' } }],
  ['plugin:webview|internal_toggle_devtools', {}],
  ['plugin:webview|get_all_webviews', {}],
  ['plugin:webview|create_webview_window', { options: { label: 'question-0', url: 'index.html' } }],
  ['plugin:window|get_all_windows', {}],
  ['plugin:window|set_focus', { label: 'main' }],
  ['plugin:window|close', { label: 'main' }],
  ['plugin:app|app_hide', {}],
  ['plugin:autostart|enable', {}],
  ['plugin:notification|notify', { options: { title: 'x' } }],
];

/** Everything that this window then hears is noted; gives the number of the callback. */
const ear = (window) => window.run(() => {
  window.heard ??= [];
  return window.__TAURI_INTERNALS__.transformCallback((told) => window.heard.push(JSON.stringify(told)));
});

async function assertRefused(window, command, words, headers) {
  const came = await window.invoke(command, words, headers && { headers });
  assert(came.refused, `${command} ${JSON.stringify(words)} came to ${JSON.stringify(came.answered)}`);
}

async function assertListensToNothing(window) {
  for (const event of EVENTS) {
    for (const target of TARGETS) {
      await assertRefused(window, 'plugin:event|listen', { event, target, handler: await ear(window) });
    }
  }
}

// holds: desktop-window-apart
test('the window of a question hears its own question alone, and cannot ask what the main window asks', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const question = await app.question();
  const milk = buyer.order('milk');
  const { questions } = await until('both questions', async () => {
    const { snapshot } = await main.view();
    return snapshot.questions.length === 2 && snapshot;
  });
  const own = (await look(question)).question.id;
  const other = questions.map(({ id }) => id).find((id) => id !== own);

  await assertListensToNothing(question);
  const channel = `__CHANNEL__:${await ear(question)}`;
  await assertRefused(question, 'hear', { tell: channel });
  for (const ask of [{ ask: 'view' }, { ask: 'calls' }, { ask: 'question', id: other, about: { about: 'look' } }, { ask: 'revoke_all' }]) {
    await assertRefused(question, 'ask', { ask });
  }
  for (const [command, words] of REFUSED) await assertRefused(question, command, words);
  // What is too large to be told at once is fetched: by the window that it is for.
  for (let id = 0; id < 64; id += 1) {
    await assertRefused(question, 'plugin:__TAURI_CHANNEL__|fetch', null, { 'Tauri-Channel-Id': `${id}` });
  }

  // Another question's id is no word of what it may say.
  const words = { about: { about: 'look', id: other, question: other }, id: other, question: other, label: `question-${other}` };
  const { answered } = await question.invoke('ask_of', words);
  assert.equal(answered.question.question.id, own);

  // It may listen, and hears of its own question alone, whatever goes on besides.
  assert((await question.invoke('hear_of', { tell: channel, question: other, label: 'main' })).refused === undefined);
  await main.done({ ask: 'looking', page: 'calls' });
  const { preferences } = await main.view();
  await main.done({ ask: 'set_preferences', preferences: { ...preferences, theme: 'dark' } });
  const heard = await until('news of its question', async () => {
    const heard = await question.run(() => window.heard);
    return heard.length > 0 && heard;
  });
  for (const told of heard) {
    const { message } = JSON.parse(told);
    assert.deepEqual(Object.keys(message), ['question']);
    assert.deepEqual(Object.keys(message.question).sort(), Object.keys(await look(question)).sort());
    assert.equal(message.question.question.id, own);
  }

  await answer(question, DENY);
  assert.equal(await tea, 'declined');
  const next = await app.question();
  assert.equal((await look(next)).question.id, other);
  await answer(next, DENY);
  assert.equal(await milk, 'declined');
}));

// holds: desktop-window-apart
test('the main window answers for no small window, and may use no plugin', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const question = await app.question();
  await assertListensToNothing(main);
  const { question: { fingerprint, id } } = await look(question);
  for (const about of [{ about: 'look' }, { about: 'decide', fingerprint, verdict: 'allow', also: 'nothing' }]) {
    await assertRefused(main, 'ask_of', { about, id, label: `question-${id}` });
  }
  await assertRefused(main, 'hear_of', { tell: `__CHANNEL__:${await ear(main)}` });
  for (const [command, words] of REFUSED) await assertRefused(main, command, words);
  await answer(question, DENY);
  assert.equal(await tea, 'declined');
  // It still hears what is its own.
  await until('a view without the question', async () => (await main.view()).snapshot.questions.length === 0);
  await main.open('Approvals');
  await main.saysNot('tea');
}));

// holds: desktop-no-devtools
test('no window can be looked into with the web view\'s developer tools', options, onStage({}, async (stage) => {
  const { app, main, shop, tokens } = await connected(stage);
  // By their keys, in the window that has the keyboard.
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
  const before = await stage.shown('.');
  await main.run(() => {
    window.pressed = [];
    addEventListener('keydown', ({ key }) => window.pressed.push(key), true);
  });
  await stage.press('F12', 'ctrl+shift+i', 'x');
  await until('the last of the keys', () => main.run(() => window.pressed.includes('x')));
  assert.deepEqual(await stage.shown('.'), before);
  shop.close();
  await app.quit();

  // By the web view's own list of what can be looked into, for which whoever starts the app can ask in its environment.
  const port = await freePort();
  const env = { ...stage.env, WEBKIT_INSPECTOR_HTTP_SERVER: `127.0.0.1:${port}` };
  stage.start('clientmcp-desktop', desktop, ['--port', `${stage.port}`, '--window'], { env });
  await Shop.open(stage, tokens.shop);
  void new Buyer(stage, tokens.buyer).order('tea');
  for (const title of [MAIN, QUESTION]) {
    await until(`a painted window ${title}`, async () => {
      const [id] = await stage.shown(title);
      return Number(await stage.run('import', ['-window', id, '-format', '%k', 'info:'])) > 64;
    });
  }
  const list = await fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text(), () => 'nobody listens');
  assert.equal(list, 'nobody listens');
}));
