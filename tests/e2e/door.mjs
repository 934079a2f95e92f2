// A host that starts a command: no token, no port, and the person says who comes in.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { answer, answerAtDoor, answerInList, onDisplay, pressed } from './answers.mjs';
import { Host } from './host.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, LET_IN, ONCE } from './words.mjs';
import { connected } from './world.mjs';

const program = join(process.env.CLIENTMCP_BUILT, 'clientmcp');

// holds: desktop-door-asked
test('a host with a command alone is let in, lists and calls, and is asked about again once it is forgotten', options, onStage({}, async (stage) => {
  const { main, shop } = await connected(stage);
  const args = ['stdio', '--host', 'Claude Desktop', '--app', 'shop'];
  const config = join(stage.home, 'claude_desktop_config.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: program, args } } }));
  await toApprovals(stage, main);
  const host = await Host.start(stage, config);

  // It is answered at once, and has nothing before the person says so.
  assert.deepEqual(await host.tools(), []);
  await main.says(/Claude Desktop\s+wants to call the tools of shop/);
  await main.says(program);
  await until('the focus at Deny', async () => DENY.test(await main.focus()));
  await main.picture('approvals-door');
  const [atDoor] = await doorQuestions(main);
  assert.deepEqual(atDoor.wants, { pair: { host: 'Claude Desktop', application: 'shop' } });
  await answerAtDoor(main, LET_IN);
  await until('its tools', async () => (await host.tools()).includes('order'));
  assert.deepEqual((await pairs(main)).map(({ host, application, verdict }) => [host, application, verdict]), [
    ['Claude Desktop', 'shop', 'allow'],
  ]);

  // A call is put to the person as any other, under the host's name.
  const tea = host.call('order', { what: 'tea' });
  const asked = await until('the question', async () => (await main.view()).snapshot.questions[0]);
  assert.deepEqual([asked.agent, asked.application, asked.tool], ['Claude Desktop', 'shop', 'order']);
  await main.says('tea');
  await answerInList(main, ONCE);
  assert.equal(await tea, 'ordered tea');
  assert.deepEqual(shop.orders, ['tea']);

  await main.open('Connect');
  await main.says(/Claude Desktop\s+to shop/);
  await main.picture('connect-pairs');
  await main.click('button', /^Forget.*Claude Desktop/);
  await main.says('you are asked');
  await main.click('button', /^Forget$/);
  await until('nobody let in', async () => (await pairs(main)).length === 0);
  await until('its tools to be gone, and a question', async () => {
    return (await host.tools()).length === 0 && (await doorQuestions(main)).length === 1;
  });
  await toApprovals(stage, main);
  await main.says(/Claude Desktop\s+wants to call the tools of shop/);
  // A no is remembered.
  await answerAtDoor(main, DENY);
  await until('a no that is remembered', async () => (await pairs(main))[0]?.verdict === 'deny');
  assert.deepEqual(await host.tools(), []);
  assert.deepEqual(shop.orders, ['tea']);
}));

// holds: desktop-door-copied
test('what Connect copies is all that a host needs: nobody is asked at the door, and no token is in it', options, onStage({}, async (stage) => {
  const { app, main } = await connected(stage);
  await main.open('Connect');
  await main.click('button', /^Claude Desktop$/);
  await main.click('button', /^Copy and let it in$/);
  const text = await until('a command in the clipboard', async () => {
    const held = await stage.clipboard();
    return held.includes('"command"') && held;
  });
  assert.doesNotMatch(text, /ey[\w-]+\.[\w-]+\.[\w-]+/);
  await until('the pair', async () => (await pairs(main)).length === 1);
  const config = join(stage.home, 'copied.json');
  writeFileSync(config, text);
  const host = await Host.start(stage, config);
  await until('its tools', async () => (await host.tools()).includes('order'));
  assert.equal((await doorQuestions(main)).length, 0);
  // It outlives the app, as it is remembered.
  await app.quit();
  await until('its tools to be gone', async () => !(await host.tools()).includes('order'));
  const settings = readFileSync(join(stage.env.XDG_CONFIG_HOME, 'clientmcp/settings.json'), 'utf8');
  assert.match(settings, /"host": *"Claude Desktop"/);
  const again = await (await stage.app()).running();
  assert.equal((await pairs(again)).length, 1);
  await until('its tools', async () => (await host.tools()).includes('order'));
}));

// holds: desktop-door-window
test('whoever comes to the door is asked about in the small window, where nothing else could tell', options, onStage({ tray: false }, async (stage) => {
  const { app, main, shop } = await connected(stage);
  // No window, no tray, and nobody who shows notifications. That there is no tray opens the window, for once.
  await until('that there is no tray', async () => (await main.view()).no_tray !== null);
  await stage.closeMain();
  const args = ['stdio', '--host', 'Claude Desktop', '--app', 'shop'];
  const config = join(stage.home, 'claude_desktop_config.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: program, args } } }));
  const host = await Host.start(stage, config);
  const window = await app.question();
  await window.says(/Claude Desktop\s+wants to call the tools of shop/);
  const look = async () => (await window.askOf({ about: 'look' })).door_question;
  assert.deepEqual((await look()).question.wants, { pair: { host: 'Claude Desktop', application: 'shop' } });
  await until('a question that can be answered', async () => (await look()).armed_in === 0);
  await stage.picture('question-door');
  await window.picture('question-door-window');
  await pressed('the host to be let in', {
    isOpen: async () => !(await window.isGone()),
    counts: async () => (await look()).armed_in === 0,
    press: async () => stage.clickAt(await onDisplay(stage, window, 'button', LET_IN)),
  });
  await window.gone();
  await until('its tools', async () => (await host.tools()).includes('order'));
  // Its calls come in the same place.
  const tea = host.call('order', { what: 'tea' });
  await answer(await app.question(), ONCE);
  assert.equal(await tea, 'ordered tea');
  assert.deepEqual(shop.orders, ['tea']);
}));

async function toApprovals(stage, main) {
  await main.open('Approvals');
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
}

async function doorQuestions(main) {
  return (await main.view()).snapshot.door_questions;
}

async function pairs(main) {
  return (await main.view()).snapshot.pairs;
}
