// What every agent in JavaScript does, whichever library it speaks through. The last line on stdout is what it found.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

// The announcement has this long, and so has all else that ends by itself.
const LIMIT = 20_000;

/** Where the bridge is, and the options of a transport: the token stands in the header or in the URL. */
export function bridge() {
  const { CLIENTMCP_MCP: url, CLIENTMCP_AUTHORIZATION: authorization } = process.env;
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  return { url: new URL(url), headers };
}

/**
 * A `fetch` for the transport of a legacy agent, and a promise of its notification stream: the library opens that by
 * itself and says nothing, and an announcement is for open streams alone.
 */
export function watchedFetch() {
  let open;
  const listening = new Promise((resolve) => (open = resolve));
  const watched = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method === 'GET' && response.ok) open();
    return response;
  };
  return { watched, listening };
}

/** A promise from outside, that fails when it takes too long. */
export function waiting(what) {
  let resolve;
  const settled = new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`no ${what} within ${LIMIT} ms`)), LIMIT);
    resolve = (value) => (clearTimeout(timer), done(value));
  });
  // Whoever awaits it later still sees the failure.
  settled.catch(() => {});
  return { settled, resolve };
}

/** Lists, calls, follows a change of the list, cancels a call, and calls again. */
export async function steps(client, { changed, extra = {} }) {
  assert.deepEqual(await names(client), ['fast', 'slow', 'change']);
  assert.equal(client.getInstructions(), 'Three tools for tests.');
  await callFast(client, 'Grüße 😀');

  await client.callTool({ name: 'change', arguments: {} });
  await changed;
  assert.deepEqual(await names(client), ['fast', 'slow', 'change', 'new']);

  await cancelSlow(client);
  await callFast(client, 'plain');
  await client.close();
  console.log(JSON.stringify({ done: true, ...extra }));
}

async function names(client) {
  const { tools } = await client.listTools();
  return tools.map((tool) => tool.name);
}

async function callFast(client, text) {
  const { structuredContent } = await client.callTool({ name: 'fast', arguments: { text } });
  assert.deepEqual(structuredContent, { said: text });
}

/** Calls the tool that never answers, and gives up when it is told that the application has the call. */
async function cancelSlow(client) {
  const lines = createInterface({ input: process.stdin });
  const given = new AbortController();
  lines.once('line', () => given.abort(new Error('given up')));
  const call = client.callTool({ name: 'slow', arguments: {} }, ...options(client, given.signal));
  await assert.rejects(call, /given up/);
  lines.close();
}

// The second argument of the older library is the schema of the result.
function options(client, signal) {
  return client.callTool.length > 2 || client.takesSchema ? [undefined, { signal }] : [{ signal }];
}
