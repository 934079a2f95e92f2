// Where secrets are kept: a real keychain, and what there is to choose without one.

import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { answer } from './answers.mjs';
import { assertHoldsNone, filesIn } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, ONCE } from './words.mjs';
import { Buyer, connected, Shop } from './world.mjs';

/** What the app keeps in the keychain. */
const kept = (stage) => stage.run('secret-tool', ['lookup', 'service', 'ClientMCP', 'username', 'bridge']);

/** The secrets in it. */
const secretsIn = (item) => item.match(/[A-Za-z0-9_-]{40,}/g) ?? [];

// holds: desktop-keys-keychain, desktop-no-token
test('a first start makes a secret in the keychain, and shows neither it nor a token anywhere', options, onStage({}, async (stage) => {
  const { app, main, buyer, tokens } = await connected(stage);
  assert.equal((await main.view()).keys.state, 'keychain');
  const secrets = secretsIn(await kept(stage));
  assert(secrets.length > 0, 'the keychain has an item with a secret in it');

  const secret = [...secrets, ...Object.values(tokens)];
  const tea = buyer.order('tea');
  const question = await app.question();
  assertHoldsNone('the window of a question', await question.source(), secret);
  await answer(question, ONCE);
  assert.equal(await tea, 'ordered tea');
  for (const page of ['Applications', 'Calls', 'Approvals', 'Connect', 'Settings']) {
    await main.open(page);
    assertHoldsNone(`the page ${page}`, await main.source(), secret);
  }
  for (const ask of ['view', 'calls', 'diagnostics']) {
    assertHoldsNone(ask, JSON.stringify(await main.done({ ask })), secret);
  }
  for (const pid of [app.pid, await app.bridge()]) {
    for (const what of ['cmdline', 'environ']) {
      assertHoldsNone(`${what} of a process`, readFileSync(`/proc/${pid}/${what}`, 'latin1'), secret);
    }
  }
  assert.notEqual(app.log(), '', 'there is a log');
  const ours = filesIn(stage.home).filter((path) => !path.includes('/keyrings/'));
  for (const path of ours) assertHoldsNone(path, readFileSync(path, 'latin1'), secret);
  assertHoldsNone('what it printed', app.lines.join('\n'), secret);
}));

// holds: desktop-wiped
test('a secret that was dropped is in no memory of the app or of its bridge', { timeout: 900_000 }, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  const secrets = async () => JSON.parse(await kept(stage)).secrets;
  const denied = async () => {
    const tea = buyer.order('tea');
    await answer(await app.question(), DENY);
    assert.equal(await tea, 'declined');
  };
  const [first] = await secrets();
  await denied();
  await main.done({ ask: 'rotate' });
  await denied();
  const [second] = await secrets();
  await main.done({ ask: 'drop_old_secrets' });
  await app.token('agent', 'shop');
  await main.done({ ask: 'revoke_all' });
  shop.close();
  const inForce = await secrets();
  const gone = [first, second];
  assert(inForce.length === 1 && new Set([...gone, ...inForce]).size === 3);
  for (const [name, pid] of [['app', app.pid], ['bridge', await app.bridge()]]) {
    assert(foundIn(pid, inForce) > 0, `what is in force is in the memory of the ${name}, so it is seen by who looks`);
    await until(`the memory of the ${name} without a dropped secret`, () => foundIn(pid, gone) === 0, 300_000);
  }
}));

// holds: desktop-settings-sealed
test('settings that another program changed are not used, and it is said', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer, tokens } = await connected(stage);
  const tea = buyer.order('tea');
  await answer(await app.question(), DENY);
  assert.equal(await tea, 'declined');
  assert.equal((await main.view()).notices.filter(({ kind }) => kind === 'settings_lost').length, 0);
  shop.close();
  await app.quit();

  const file = join(stage.env.XDG_CONFIG_HOME, 'clientmcp/settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  settings.memory.modes = [{ application: 'shop', mode: 'ask_except_read_only', until: 'always' }];
  const forged = JSON.stringify(settings, null, 2) + '\n';
  writeFileSync(file, forged);
  const again = await stage.app();
  const window = await again.running();
  const { snapshot, notices } = await until('what the bridge tells', async () => {
    const view = await window.view();
    return view.snapshot && view;
  });
  assert.deepEqual(snapshot.modes ?? [], []);
  const lost = notices.find(({ kind }) => kind === 'settings_lost');
  assert.match(lost.detail, /another program changed it or put it there/);
  await window.says('another program changed it or put it there');
  await window.picture('settings-changed');
  assert.equal(readFileSync(`${file}.damaged-1`, 'utf8'), forged);
  // All tokens ended.
  await assert.rejects(new Buyer(stage, tokens.buyer).tools());
}));

// holds: desktop-keys-choice
test('without a keychain nothing runs before the person chose, and a session keeps nothing', options, onStage({ keychain: false }, async (stage) => {
  const app = await stage.app();
  const main = await app.main();
  await main.says('Where should secrets be kept?');
  await main.picture('no-keychain');
  const { keys, bridge } = await main.view();
  assert.equal(keys.state, 'trouble');
  assert.deepEqual([...keys.choices].sort(), ['again', 'file', 'session']);
  await main.says(keys.sentence);
  assert.equal(bridge.state, 'held');
  await choose(main, /For this session only/);
  await app.running();
  assert.equal((await main.view()).keys.state, 'session');
  const token = await app.token('client', 'shop');
  const shop = await Shop.open(stage, token);
  assert.equal(shop.state.status, 'online');
  const files = filesIn(stage.home).map((path) => readFileSync(path, 'latin1'));
  assertHoldsNone('a file', files.join('\n'), [token]);
  await app.quit();
  // The next start has nothing to go on with.
  const again = await stage.app();
  await (await again.main()).says('Where should secrets be kept?');
}));

// holds: desktop-keys-choice
test('a chosen file holds the secrets, for this user alone, and the next start reads it', options, onStage({ keychain: false }, async (stage) => {
  const app = await stage.app();
  const main = await app.main();
  await main.says('Where should secrets be kept?');
  await choose(main, /In a file/);
  await app.running();
  const { keys } = await main.view();
  assert.equal(keys.state, 'file');
  assert.equal(statSync(keys.path).mode & 0o777, 0o600);
  assert(readFileSync(keys.path, 'utf8').trim().length >= 32);
  const [client, agent] = [await app.token('client', 'shop'), await app.token('agent', 'shop')];
  await app.quit();
  const again = await stage.app();
  await again.running();
  await Shop.open(stage, client);
  const tea = new Buyer(stage, agent).order('tea');
  await answer(await again.question(), DENY);
  assert.equal(await tea, 'declined');
}));

/** Picks one of the choices, whatever it is made of. */
async function choose(main, name) {
  if (await main.has('radio', name)) await main.click('radio', name);
  else return main.click('button', name);
  await main.click('button', /^Choose/);
  return until('a choice that is taken', async () => (await main.view()).keys.state !== 'trouble');
}

/** Bytes of memory that are looked through at a time, and of a page. */
const PIECE = 8 << 20;
const PAGE = 4096;

/** In how many pieces of what a process can write of its memory one of these texts stands. It is one that the test started. */
function foundIn(pid, texts) {
  const longest = Math.max(...texts.map((text) => text.length));
  const [piece, pages] = [Buffer.alloc(PIECE + longest), Buffer.alloc((PIECE / PAGE) * 8)];
  const [memory, there] = ['mem', 'pagemap'].map((what) => openSync(`/proc/${pid}/${what}`, 'r'));
  let found = 0;
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      for (let at = from && BigInt(`0x${from}`), end = to && BigInt(`0x${to}`); at < end; at += BigInt(PIECE)) {
        // Web views reserve much more than they ever touch.
        const known = readSync(there, pages, 0, pages.length, (at / BigInt(PAGE)) * 8n);
        if (!anyIn(pages.subarray(0, known))) continue;
        // Memory may have been given back meanwhile.
        const read = attempt(() => readSync(memory, piece, 0, Math.min(piece.length, Number(end - at)), at));
        found += texts.filter((text) => piece.subarray(0, read).includes(text)).length;
      }
    }
  } finally {
    closeSync(memory);
    closeSync(there);
  }
  return found;
}

/** Whether one of these pages lies in memory or was swapped out: the two highest bits of each entry say so. */
function anyIn(pages) {
  for (let at = 7; at < pages.length; at += 8) if (pages[at] & 0xc0) return true;
  return false;
}

function attempt(read) {
  try {
    return read();
  } catch {
    return 0;
  }
}
