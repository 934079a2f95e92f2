// What every agent in JavaScript does, whichever library it speaks through.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Where the bridge is, and the options of a transport: the token stands in the header or in the URL. */
export function bridge() {
  const { CLIENTMCP_MCP: url, CLIENTMCP_AUTHORIZATION: authorization } = process.env;
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  return { url: new URL(url), headers };
}

/** A `fetch` for the transport that tells which streams are open; the libraries say nothing of them. */
export function watching() {
  const waits = [];
  const watched = async (input, init) => {
    const at = waits.findIndex(({ method, word }) => init.method === method && (init.body ?? '').includes(word));
    const [wait] = at < 0 ? [] : waits.splice(at, 1);
    const response = await fetch(input, init);
    if (response.headers.get('content-type') === 'text/event-stream') wait?.opened();
    return response;
  };
  // The promise of a stream that answers the next request of this method with this word in it.
  const stream = (method, word = '') => new Promise((opened) => waits.push({ method, word, opened }));
  return { fetch: watched, stream };
}

/** The option of a client that follows changes of the list, and a promise of the names after the first. */
export function following() {
  let heard;
  const changed = new Promise((resolve) => (heard = resolve));
  const onChanged = (error, tools) => heard(error ?? tools.map((tool) => tool.name));
  return { listChanged: { tools: { onChanged } }, changed };
}

/**
 * Lists, calls, follows a change of the list, gives up a call before its answer begins and one after, and calls again.
 * `call` is `client.callTool` with the options where the library takes them.
 */
export async function steps(client, call, changed, stream) {
  assert.deepEqual(await names(client), ['fast', 'slow', 'change']);
  assert.equal(client.getInstructions(), 'Three tools for tests.');
  await callFast(call, 'Grüße 😀');

  await call({ name: 'change', arguments: {} });
  assert.deepEqual(await changed, ['fast', 'slow', 'change', 'new']);
  assert.deepEqual(await names(client), ['fast', 'slow', 'change', 'new']);

  await giveUp(call, line());
  await giveUp(call, stream('POST', 'slow'));
  await callFast(call, 'plain');
  await client.close();
}

export async function names(client) {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name);
}

export async function callFast(call, text) {
  const { structuredContent } = await call({ name: 'fast', arguments: { text } });
  assert.deepEqual(structuredContent, { said: text });
}

/** Calls the tool that never answers, and gives up then. */
export async function giveUp(call, then) {
  const patience = new AbortController();
  then.then(() => patience.abort(new Error('given up')));
  await assert.rejects(call({ name: 'slow', arguments: {} }, { signal: patience.signal }), /given up/);
}

/** Of the line on stdin that says that the application has the call. */
async function line() {
  const lines = createInterface({ input: process.stdin });
  await once(lines, 'line');
  lines.close();
  process.stdin.destroy();
}
