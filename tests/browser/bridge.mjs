// A real bridge, an agent that calls through it, and a desktop that drives one.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { within } from './waits.mjs';

const clientmcp = join(process.env.CLIENTMCP_BUILT, 'clientmcp');
const MODERN = '2026-07-28';

/** A bridge that asks nobody. It ends with the test. */
export async function startBridge(t, port = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'clientmcp-browser-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [secret, other] = [newSecret(folder, 'secret'), newSecret(folder, 'other')];
  const started = await serve(t, secret, port);
  const bridge = {
    ...started,
    token: (role, id = 'notes') => token(secret, role, id),
    /** Of another bridge's secret. */
    foreignToken: () => token(other, 'client', 'notes'),
    agent: (id) => new Agent(started.mcp, token(secret, 'agent', id ?? 'notes')),
    /** Starts it again on the port that it had. */
    start: async () => Object.assign(bridge, await serve(t, secret, bridge.port)),
  };
  return bridge;
}

async function serve(t, secret, port) {
  const words = ['serve', '--port', `${port}`, '--confirm', 'off', '--secret-file', secret];
  const { process, lines } = start(t, words);
  const { mcp, connect } = await next(lines);
  return { mcp, connect, port: new URL(mcp).port, stop: () => stop(process) };
}

/** A bridge that a desktop drives. */
export async function startDriven(t) {
  const { process, lines } = start(t, ['serve', '--control']);
  const secret = 'a secret of the tests, of 32 bytes and more';
  const settings = { client_origins: 'any', allow_origins: [], call_seconds: 120, question_seconds: 120 };
  const memory = { modes: [], rules: [], blocked: [], pins: [], generations: [], floors: [], seen: [] };
  let request = 0;
  const order = async (type, members) => {
    request += 1;
    process.stdin.write(`${JSON.stringify({ request, type, ...members })}\n`);
    const { reply } = await until(lines, (event) => event.type === 'reply' && event.request === request);
    assert(!reply.refused, reply.refused?.sentence);
    return reply;
  };
  process.stdin.write('{"type":"hello","control":1,"version":"tests"}\n');
  const listening = until(lines, (event) => event.type === 'listening');
  const ready = listening.then(async ({ connect }) => {
    await until(lines, (event) => event.type === 'reply');
    return connect;
  });
  request += 1;
  const begin = { request, type: 'start', port: 0, secrets: [secret], settings, memory, paused: false };
  process.stdin.write(`${JSON.stringify(begin)}\n`);
  return { connect: await ready, order };
}

async function until(lines, isIt) {
  for (;;) {
    const event = await next(lines);
    if (isIt(event)) return event;
  }
}

function start(t, words) {
  const env = { ...process.env, CLIENTMCP_LOG: 'warn' };
  const started = spawn(clientmcp, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => stop(started));
  return { process: started, lines: createInterface({ input: started.stdout })[Symbol.asyncIterator]() };
}

async function stop(started) {
  if (started.exitCode !== null || started.signalCode !== null) return;
  const exited = once(started, 'exit');
  started.kill();
  await within(exited, 'the end of the bridge');
}

async function next(lines) {
  const { value, done } = await within(lines.next(), 'a line of the bridge');
  assert(!done, 'the bridge has ended');
  return JSON.parse(value);
}

function newSecret(folder, name) {
  const path = join(folder, name);
  execFileSync(clientmcp, ['secret', path], { stdio: 'ignore' });
  return path;
}

function token(secret, role, id) {
  const words = ['token', id, '--role', role, '--secret-file', secret];
  return execFileSync(clientmcp, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** An agent of the modern era. */
class Agent {
  #url;
  #token;

  constructor(url, token) {
    this.#url = url;
    this.#token = token;
  }

  /** The names of the tools. */
  async tools() {
    return (await this.#ask('tools/list', {})).tools.map((tool) => tool.name);
  }

  /** Calls a tool; aborting the signal gives the call up. */
  call(name, args = {}, signal) {
    return this.#ask('tools/call', { name, arguments: args }, { 'Mcp-Name': name }, signal);
  }

  /** Calls, and returns what the answer says. */
  async text(name, args) {
    const { content, isError = false } = await this.call(name, args);
    return { text: content[0]?.text, isError };
  }

  /** Follows the changes of the list: `next()` resolves with each announcement. */
  async listen(t) {
    const stopped = new AbortController();
    t.after(() => stopped.abort());
    const params = { notifications: { toolsListChanged: true } };
    const listening = this.#post('subscriptions/listen', params, {}, stopped.signal);
    const response = await within(listening, 'the answer to subscriptions/listen');
    const events = readEvents(response.body);
    const next = async () => (await within(events.next(), 'the next announcement')).value.method;
    assert.equal(await next(), 'notifications/subscriptions/acknowledged');
    return { next };
  }

  #ask(method, params, headers, signal) {
    return within(this.#answered(method, params, headers, signal), `the answer to ${method} ${JSON.stringify(params)}`);
  }

  async #answered(method, params, headers, signal) {
    const response = await this.#post(method, params, headers, signal);
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    const message = isStream ? (await readEvents(response.body).next()).value : await response.json();
    assert(message.result, JSON.stringify(message.error));
    return message.result;
  }

  #post(method, params, headers, signal) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    return fetch(this.#url, {
      method: 'POST',
      signal,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': MODERN,
        'Mcp-Method': method,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    });
  }
}

async function* readEvents(body) {
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
  }
}
