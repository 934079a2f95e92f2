// What every agent in JavaScript does through the stdio command, whichever library it speaks through.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

import { callFast, following, giveUp, names } from './steps.mjs';

export { following };

/** How the libraries start the command: with a program and its words, as a host's config file has them. */
export function server() {
  const { CLIENTMCP_PROGRAM: command, CLIENTMCP_WORDS: words, XDG_RUNTIME_DIR: folder } = process.env;
  return { command, args: JSON.parse(words), env: { XDG_RUNTIME_DIR: folder }, stderr: 'inherit' };
}

/**
 * Lists, calls, follows a change of the list, gives up a call, outlives the bridge, and calls again when there is one.
 * What it waits for comes as a line on stdin each time.
 */
export async function stdioSteps(client, call, changed) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const told = async () => assert.equal((await lines.next()).done, false);
  assert.deepEqual(await names(client), ['fast', 'slow', 'change']);
  assert.equal(client.getInstructions(), 'Three tools for tests.');
  await callFast(call, 'Grüße 😀');

  await call({ name: 'change', arguments: {} });
  assert.deepEqual(await changed, ['fast', 'slow', 'change', 'new']);
  await giveUp(call, told());
  await callFast(call, 'plain');
  console.log('"ready"');

  await told();
  assert.deepEqual(await names(client), []);
  const away = await call({ name: 'fast', arguments: { text: 'nobody hears it' } });
  assert.equal(away.isError, true);
  assert.match(away.content[0].text, /Nothing was done/);
  console.log('"away"');

  await told();
  assert.deepEqual(await names(client), ['fast', 'slow', 'change']);
  await callFast(call, 'again');
  await client.close();
  process.stdin.destroy();
}
