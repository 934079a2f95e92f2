// Starting, staying, ending: the app, its bridge, and what both remember.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

import { answer } from './answers.mjs';
import { MAIN } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until, within } from './waiting.mjs';
import { ALWAYS, DENY, MINUTES, ONCE, QUIT } from './words.mjs';
import { Buyer, connected, Shop } from './world.mjs';

/** Whether the process is there and not only its remains. */
function lives(pid) {
  return existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

// holds: desktop-sidecar-restart
test('a bridge that is killed is started again, and tokens and rules go on', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), MINUTES);
  assert.equal(await tea, 'ordered tea');
  const before = await app.bridge();
  process.kill(before, 'SIGKILL');
  await until('another bridge', async () => (await app.bridge()) !== before);
  await app.running();
  await until('the application to be back', async () => (await main.view()).snapshot?.applications.length === 1);
  await shop.online();
  assert.equal(await buyer.order('milk'), 'ordered milk');
  assert.deepEqual(shop.orders, ['tea', 'milk']);
  await until('a notice', async () => (await main.view()).notices.some((notice) => notice.kind === 'bridge_ended'));
}));

// holds: desktop-single-instance
test('a second start raises the window of the first, and ends', options, onStage({}, async (stage) => {
  const { app, buyer } = await connected(stage);
  await stage.closeMain();
  // Closing it ended nothing.
  assert.deepEqual(await buyer.tools(), ['order']);
  assert(!app.ended);
  const second = await stage.app([]);
  assert.equal(await within('the end of the second start', second.exited), 0);
  await until('the window to be back', async () => (await stage.shown(MAIN)).length === 1);
  await until('the window in front', async () => (await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim() === 'ClientMCP');
  assert.deepEqual(await buyer.tools(), ['order']);
}));

// holds: desktop-quit-asks
test('quitting asks while a call is under way', options, onStage({}, async (stage) => {
  let finish;
  const handler = () => new Promise((resolve) => (finish = () => resolve('done')));
  const { app, main, shop, buyer } = await connected(stage, { handler });
  const tea = buyer.order('tea');
  await answer(await app.question(), ONCE);
  await until('the call to arrive', () => shop.orders.length === 1);
  await stage.tray.pick('Quit');
  await main.says('Quit while calls are under way?');
  await main.picture('quit');
  await main.click('button', 'Stay');
  await until('no more wish to quit', async () => (await main.view()).quitting === null);
  finish();
  assert.equal(await tea, 'done');
  // Now there is nothing to ask about, once the app has heard of it.
  await until('no call under way', async () => (await main.view()).snapshot.calls.length === 0);
  const bridge = await app.bridge();
  await stage.tray.pick('Quit');
  assert.equal(await app.gone(), 0);
  await until('the end of the bridge', () => !lives(bridge));
}));

// holds: desktop-quit-asks
test('quitting all the same ends the call', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage, { handler: () => new Promise(() => undefined) });
  const tea = buyer.order('tea');
  await answer(await app.question(), ONCE);
  await until('the call to arrive', () => shop.orders.length === 1);
  await stage.tray.pick('Quit');
  await main.says('Quit while calls are under way?');
  await main.click('button', 'Quit');
  assert.equal(await app.gone(), 0);
  await assert.rejects(tea);
}));

// holds: desktop-sidecar-dies-along
test('the bridge ends with the app, however that ends', options, onStage({}, async (stage) => {
  for (const signal of ['SIGTERM', 'SIGKILL']) {
    const app = await stage.app();
    await app.running();
    const bridge = await app.bridge();
    app.kill(signal);
    await app.gone();
    await until('the end of the bridge', () => !lives(bridge));
  }
}));

// holds: desktop-remembers
test('the next start knows tokens, rules and origins', options, onStage({}, async (stage) => {
  const { app, shop, buyer, tokens } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), ALWAYS);
  assert.equal(await tea, 'ordered tea');
  assert.equal(await buyer.order('milk'), 'ordered milk');
  shop.close();
  await app.quit();

  const again = await stage.app();
  const main = await again.running();
  const { pins, snapshot } = await until('what the bridge tells', async () => {
    const view = await main.view();
    return view.snapshot && view;
  });
  assert.deepEqual(pins, [{ application: 'shop', origins: ['native'] }]);
  assert.equal(snapshot.rules.length, 1);
  const back = await Shop.open(stage, tokens.shop);
  assert.equal(await new Buyer(stage, tokens.buyer).order('salt'), 'ordered salt');
  assert.deepEqual(back.orders, ['salt']);
}));

// holds: desktop-remembers
test('"until quit" ends when the app quits', options, onStage({}, async (stage) => {
  const { app, shop, buyer, tokens } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), QUIT);
  assert.equal(await tea, 'ordered tea');
  // A new bridge of the same app is told of it.
  const before = await app.bridge();
  process.kill(before, 'SIGKILL');
  await until('another bridge', async () => (await app.bridge()) !== before);
  await app.running();
  await shop.online();
  const main = await app.main();
  await until('the application to be back', async () => (await main.view()).snapshot?.applications.length === 1);
  assert.equal(await buyer.order('milk'), 'ordered milk');
  shop.close();
  await app.quit();
  const again = await stage.app();
  await again.running();
  await Shop.open(stage, tokens.shop);
  const salt = new Buyer(stage, tokens.buyer).order('salt');
  await answer(await again.question(), DENY);
  assert.equal(await salt, 'declined');
}));

// holds: desktop-no-tray
test('without a place for its icon the app opens its window and says why', options, onStage({ tray: false }, async (stage) => {
  const app = await stage.app([]);
  const main = await app.running();
  const { no_tray: why } = await until('the reason', async () => {
    const view = await main.view();
    return view.no_tray && view;
  });
  await main.says(why);
  await main.picture('no-tray');
}));

// holds: desktop-no-bus
test('without a session bus it starts all the same, and says what it cannot reach', options, onStage({ keychain: false, tray: false }, async (stage) => {
  stage.env.DBUS_SESSION_BUS_ADDRESS = 'unix:path=/nonexistent/bus';
  const app = await stage.app();
  const main = await app.main();
  await main.says('Where should secrets be kept?');
  const { keys } = await main.view();
  assert.equal(keys.code, 'no_bus');
  await main.says(keys.sentence);
}));
