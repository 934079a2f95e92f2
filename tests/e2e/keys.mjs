// Where secrets are kept: a real keychain, and what there is to choose without one.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';

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
