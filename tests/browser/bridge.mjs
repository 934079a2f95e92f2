// A real bridge, an agent that calls through it, and a desktop that drives one.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { Agent } from './agent.mjs';
import { within } from './waits.mjs';

const clientmcp = join(process.env.CLIENTMCP_BUILT, 'clientmcp');

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
  const lists = ['modes', 'rules', 'blocked', 'pins', 'generations', 'floors', 'issued', 'seen', 'pairs'];
  const memory = Object.fromEntries(lists.map((list) => [list, []]));
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
