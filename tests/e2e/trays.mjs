// The tray's menu over the bus, as the desktop's own panel reads and picks it.

import assert from 'node:assert/strict';

import { answer } from './answers.mjs';
import { MAIN } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { LIMIT, until } from './waiting.mjs';
import { ONCE } from './words.mjs';
import { Buyer, connected, Shop } from './world.mjs';

const TOKEN = /^ey[\w-]+\.[\w-]+\.[\w-]+$/;

// holds: desktop-tray-token
test('a token from the tray is in the clipboard, works, and is gone after 90 s', options, onStage({}, async (stage) => {
  const { app, tokens } = await connected(stage);
  const old = [...Object.values(tokens), ''];
  await stage.tray.pick('Copy agent token > shop');
  const copied = await until('a token', async () => {
    const text = await stage.clipboard();
    return TOKEN.test(text) && !old.includes(text) && { text, at: Date.now() };
  });
  assert.deepEqual(await new Buyer(stage, copied.text).tools(), ['order']);
  await until('an empty clipboard', async () => (await stage.clipboard()) === '', 2 * LIMIT);
  const seconds = (Date.now() - copied.at) / 1000;
  assert(seconds > 85, `it was gone after ${seconds} s`);
  // What somebody else copied since is theirs.
  await stage.tray.pick('Copy client token > shop');
  await until('a token', async () => TOKEN.test(await stage.clipboard()));
  stage.start('xclip', 'xclip', ['-selection', 'clipboard', '-quiet', '-i'], { input: 'pipe' }).process.stdin.end('of another');
  await until('what another copied', async () => (await stage.clipboard()) === 'of another');
  await app.quit();
  assert.equal(await stage.clipboard(), 'of another');
}));

// holds: desktop-tray-token
test('a copied token does not outlive the app in the clipboard', options, onStage({}, async (stage) => {
  const { app } = await connected(stage);
  assert.match(await stage.clipboard(), TOKEN);
  await app.quit();
  assert.equal(await stage.clipboard(), '');
}));

// holds: desktop-tray-menu
test('the menu says how things stand, and does what it says', options, onStage({}, async (stage) => {
  const app = await stage.app();
  const main = await app.running();
  const { tray } = stage;
  await tray.entry('Copy agent token > No application yet');
  const idle = await tray.icon();
  await tray.pick('Copy MCP URL');
  await until('the URL', async () => (await stage.clipboard()) === `http://127.0.0.1:${stage.port}/mcp`);

  const shop = await Shop.open(stage, await app.token('client', 'shop'));
  const buyer = new Buyer(stage, await app.token('agent', 'shop', 'buyer'));
  await tray.entry('Copy agent token > shop');
  const tea = buyer.order('tea');
  await tray.entry('Approvals (1)');
  await until('an icon of its own', async () => (await tray.icon()) !== idle);
  await answer(await app.question(), ONCE);
  assert.equal(await tea, 'ordered tea');
  await tray.entry(/shop · order/);
  await tray.entry('Approvals');

  await tray.pick('Pause');
  await tray.entry('Resume');
  assert.equal(await buyer.order('milk'), 'paused');
  await tray.pick('Resume');
  await tray.entry('Pause');
  assert.deepEqual(shop.orders, ['tea']);

  await stage.closeMain();
  await tray.pick('Approvals');
  await until('the window', async () => (await stage.shown(MAIN)).length === 1);
  assert.equal((await (await app.main()).view()).wanted[0], 'approvals');

  const login = await tray.entry('Start at login');
  assert.equal(login.checked, false);
  await tray.pick('Start at login');
  await until('the tick', async () => (await tray.entry('Start at login')).checked);
  assert((await (await app.main()).view()).preferences.start_at_login);
  await tray.pick('Quit');
  assert.equal(await app.gone(), 0);
}));

// holds: desktop-tray-late
test('an icon comes when there is a place for it, later than the app', options, onStage({ tray: false }, async (stage) => {
  const app = await stage.app();
  const main = await app.running();
  await until('the reason why there is none', async () => (await main.view()).no_tray);
  await stage.openTray();
  await stage.tray.entry('Quit');
  await until('no more reason', async () => (await main.view()).no_tray === null);
}));

// holds: desktop-tray-menu
test('the menu opens from the panel of a real desktop', options, onStage({ tray: false, services: ['org.xfce.Xfconf.service'] }, async (stage) => {
  await panel(stage);
  const { app, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), ONCE);
  assert.equal(await tea, 'ordered tea');
  await stage.closeMain();
  // The panel is at the top left, and the icon is all that is in it.
  await until('the open menu', async () => {
    await stage.clickAt({ x: 14, y: 14 });
    return menus(stage);
  });
  await stage.picture('tray-menu');
  // The last entry quits.
  await stage.press('Up', 'Return');
  assert.equal(await app.gone(), 0);
}));

/** An xfce4-panel with nothing but a place for icons. */
async function panel(stage) {
  const set = (property, type, ...value) => {
    const array = type === 'array' ? ['--force-array', '--type', 'int'] : ['--type', type];
    return stage.run('xfconf-query', ['--channel', 'xfce4-panel', '--property', property, '--create', ...array, ...value.flatMap((one) => ['--set', one])]);
  };
  await set('/configver', 'int', '2');
  await set('/panels', 'array', '1');
  await set('/panels/panel-1/position', 'string', 'p=6;x=0;y=0');
  await set('/panels/panel-1/size', 'uint', '28');
  await set('/panels/panel-1/length', 'uint', '5');
  await set('/panels/panel-1/plugin-ids', 'array', '1');
  await set('/plugins/plugin-1', 'string', 'systray');
  stage.start('xfce4-panel', 'xfce4-panel', ['--disable-wm-check']);
  const names = ['call', '--session', '--dest', 'org.freedesktop.DBus', '--object-path', '/org/freedesktop/DBus', '--method', 'org.freedesktop.DBus.ListNames'];
  await until('a place for icons', async () => (await stage.run('gdbus', names)).includes('org.kde.StatusNotifierWatcher'));
}

/** Whether a menu is open: a window that no window manager looks after, larger than an icon. */
async function menus(stage) {
  const tree = await stage.run('xwininfo', ['-root', '-tree']);
  return [...tree.matchAll(/"(?:xfce4-panel|wrapper[^"]*)": .*? (\d+)x(\d+)\+/g)].some(([, width, height]) => Number(width) > 100 && Number(height) > 150);
}
