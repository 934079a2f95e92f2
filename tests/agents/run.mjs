// Runs the agents of other people against a real bridge and a real application, each a program of its own:
// `cargo xtask test agents`, which builds and installs what this needs and says where it is.
//
// Nothing here waits for time to pass: the runner follows what the application says it saw, and expects an order only where
// the product has one. Each wait says what it was for when it was in vain; an agent that has not ended within five minutes is
// killed, and fails with its output as any other.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { within } from '../browser/waits.mjs';

const LIMIT = 300_000;
const CLIENT_ID = 'agents-application';
const MODERN = '2026-07-28';

const { CLIENTMCP_BUILT: built, CLIENTMCP_PYTHON: python } = process.env;
const here = import.meta.dirname;
const clientmcp = join(built, 'clientmcp');
const packages = join(here, 'node_modules');

const node = (...words) => [process.execPath, ...words];
// The Inspector wants a newer Node than the project.
const newerNode = (...words) => [join(packages, '.bin/node'), ...words];

for (const place of ['header', 'path']) {
  for (const mode of ['pinned', 'auto', 'legacy']) {
    // holds: agents-client
    test(`client 2.x, ${mode}, token in the ${place}`, (t) => follows(t, place, node('client.mjs', mode)));
  }

  // holds: agents-sdk
  test(`sdk 1.x, token in the ${place}`, (t) => follows(t, place, node('sdk.mjs')));

  for (const mode of [MODERN, 'auto', 'legacy']) {
    // holds: agents-python
    test(`Python, ${mode}, token in the ${place}`, (t) => follows(t, place, [python, 'agent.py', mode]));
  }

  for (const era of ['modern', 'legacy']) {
    // holds: agents-inspector
    test(`Inspector, ${era}, token in the ${place}`, (t) => inspects(t, place, era));
  }
}

const THROUGH_A_COMMAND = [
  ...['pinned', 'auto', 'legacy'].map((mode) => [`client 2.x, ${mode}`, node('stdio-client.mjs', mode)]),
  ['sdk 1.x', node('stdio-sdk.mjs')],
  ...[MODERN, 'auto', 'legacy'].map((mode) => [`Python, ${mode}`, [python, 'stdio_agent.py', mode]]),
];

for (const [name, command] of THROUGH_A_COMMAND) {
  // holds: agents-stdio
  test(`${name}, through a command`, (t) => outlives(t, command));
}

/** The same through the stdio command, whose bridge is killed and started anew meanwhile. */
async function outlives(t, command) {
  const { folder, bridge, application } = doorway(t);
  const before = await bridge(0);
  const first = await application(before.connect);
  const words = ['stdio', '--host', 'Agents', '--app', CLIENT_ID];
  const variables = { CLIENTMCP_PROGRAM: clientmcp, CLIENTMCP_WORDS: JSON.stringify(words), XDG_RUNTIME_DIR: folder };
  const agent = start(t, command, variables, { cwd: here, timeout: LIMIT, killSignal: 'SIGKILL' });

  assert.deepEqual(await first.next(), call('fast', '{"text":"Grüße 😀"}'));
  assert.deepEqual(await first.next(), call('change', '{}'));
  assert.deepEqual(await first.next(), call('slow', '{}'));
  agent.say('given up');
  await sees(first, { calls: [call('fast', '{"text":"plain"}')], given: 1 });
  assert.equal(await agent.next(), 'ready');

  first.end();
  assert.deepEqual(await first.rest(), []);
  await before.kill();
  agent.say('the bridge was killed');
  assert.equal(await agent.next(), 'away');

  const after = await bridge(0);
  const second = await application(after.connect);
  agent.say('there is another one');
  assert.deepEqual(await second.next(), call('fast', '{"text":"again"}'));
  assert.deepEqual(await agent.rest(), []);
  assert.equal(await within(agent.code, 'the end of the agent'), 0);
}

/**
 * The application sees these calls, in this order, for each is made when the one before is over for the agent; and that this
 * many of the slow ones were given up. When it hears of that is another matter: a call is taken back by one connection and
 * the next one made by another.
 */
async function sees(application, { calls, given, slow = 1 }) {
  const expected = [...calls];
  let [taken, pending] = [0, slow];
  while (expected.length > 0 || taken < given) {
    const seen = await application.next();
    if (seen.saw === 'cancel') {
      assert.deepEqual(seen, { saw: 'cancel', name: 'slow' });
      taken += 1;
      assert(taken <= pending, `${taken} calls were taken back, and ${pending} made`);
    } else {
      assert.deepEqual(seen, expected.shift());
      if (seen.name === 'slow') pending += 1;
    }
  }
}

/** A folder with a door in it: bridges that are driven as by the desktop app, and the application. */
function doorway(t) {
  const folder = mkdtempSync(join(tmpdir(), 'clientmcp-agents-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const secret = join(folder, 'secret');
  execFileSync(clientmcp, ['secret', secret], { stdio: 'ignore' });
  const words = ['token', CLIENT_ID, '--role', 'client', '--secret-file', secret];
  const token = execFileSync(clientmcp, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const settings = { client_origins: 'pinned', allow_origins: [], call_seconds: 120, question_seconds: 120 };
  const lists = ['rules', 'blocked', 'pins', 'generations', 'floors', 'issued', 'seen'];
  const memory = {
    ...Object.fromEntries(lists.map((list) => [list, []])),
    pairs: [{ host: 'Agents', application: CLIENT_ID, verdict: 'allow', made: 1 }],
    modes: [{ application: CLIENT_ID, mode: 'allow_all', until: { at: Date.now() + 3_600_000 } }],
  };
  const bridge = async (port) => {
    const bridge = start(t, [clientmcp, 'serve', '--control'], { XDG_RUNTIME_DIR: folder });
    bridge.say(JSON.stringify({ type: 'hello', control: 1, version: 'test' }));
    const secrets = [readFileSync(secret, 'utf8').trim()];
    bridge.say(JSON.stringify({ type: 'start', request: 1, port, secrets, settings, memory, paused: false }));
    let connect;
    for (let message = {}; !message.door?.open; message = await bridge.next()) connect = message.connect ?? connect;
    // A bridge whose desktop reads no more goes on.
    const kill = async () => {
      bridge.process.kill('SIGKILL');
      await within(bridge.code, 'the end of the bridge');
    };
    return { connect, kill };
  };
  const application = async (connect) => {
    const variables = { CLIENTMCP_CONNECT: connect, CLIENTMCP_TOKEN: token };
    const application = start(t, [join(built, 'examples', 'agents-application')], variables);
    assert.deepEqual(await application.next(), { saw: 'online' });
    return application;
  };
  return { folder, bridge, application };
}

/** The agent lists, calls, hears of a change, gives two calls up, which the application sees, and calls again. */
async function follows(t, place, command) {
  const { agent, application } = await scene(t, place);
  const running = agent(command);
  const watched = async () => {
    assert.deepEqual(await application.next(), call('fast', '{"text":"Grüße 😀"}'));
    assert.deepEqual(await application.next(), call('change', '{}'));
    assert.deepEqual(await application.next(), call('slow', '{}'));
    running.process.stdin.write('\n');
    // The second call is given up once its answer has begun as a stream.
    await sees(application, { calls: [call('slow', '{}'), call('fast', '{"text":"plain"}')], given: 2 });
  };
  await Promise.all([running.ended, watched()]);
  application.end();
  assert.deepEqual(await application.rest(), []);
}

/** The Inspector's command line does one thing a run. */
async function inspects(t, place, era) {
  const { agent, application, url, authorization } = await scene(t, place);
  const inspector = join(packages, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const header = authorization === undefined ? [] : ['--header', `Authorization: ${authorization}`];
  const inspect = async (...words) => {
    const options = ['--cli', url, '--transport', 'http', '--protocol-era', era, '--format', 'json', ...header];
    return JSON.parse(await agent(newerNode(inspector, ...options, ...words)).ended).result;
  };

  const listed = await inspect('--method', 'tools/list');
  assert.deepEqual(listed.tools.map((tool) => tool.name), ['fast', 'slow', 'change']);

  const called = await inspect('--method', 'tools/call', '--tool-name', 'fast', '--tool-arg', 'text=hello');
  assert.deepEqual(called.structuredContent, { said: 'hello' });
  assert.deepEqual(await application.next(), call('fast', '{"text":"hello"}'));
}

const call = (name, text) => ({ saw: 'call', name, arguments: text });

/** A fresh bridge, the application, and how an agent is started; all of it ends with the test. */
async function scene(t, place) {
  const folder = mkdtempSync(join(tmpdir(), 'clientmcp-agents-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const secret = join(folder, 'secret');
  execFileSync(clientmcp, ['secret', secret], { stdio: 'ignore' });
  const token = (role) =>
    execFileSync(clientmcp, ['token', CLIENT_ID, '--role', role, '--secret-file', secret], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();

  const bridge = start(t, [clientmcp, 'serve', '--port', '0', '--confirm', 'off', '--secret-file', secret]);
  const { mcp, connect } = await bridge.next();

  const environment = { CLIENTMCP_CONNECT: connect, CLIENTMCP_TOKEN: token('client') };
  const application = start(t, [join(built, 'examples', 'agents-application')], environment);
  assert.deepEqual(await application.next(), { saw: 'online' });

  const inHeader = place === 'header';
  const url = inHeader ? mcp : `${mcp}/${token('agent')}`;
  const authorization = inHeader ? `Bearer ${token('agent')}` : undefined;
  const agent = (command) => {
    // The Inspector writes to the person's folder what it learns of a server.
    const variables = { CLIENTMCP_MCP: url, HOME: folder, ...(inHeader && { CLIENTMCP_AUTHORIZATION: authorization }) };
    return run(t, command, variables);
  };
  return { agent, application, url, authorization };
}

/** A program that says on stdout, a JSON object a line, what happens to it. */
function start(t, [program, ...words], variables = {}, options = {}) {
  const env = { ...process.env, CLIENTMCP_LOG: 'warn', ...variables };
  const started = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const code = once(started, 'exit').then(([code]) => code);
  t.after(() => stop(started));
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await within(lines.next(), `a line of ${program}`, LIMIT);
    assert(!done, `${program} has ended`);
    return JSON.parse(value);
  };
  const rest = async () => {
    const more = [];
    for (let line; !(line = await within(lines.next(), `the last line of ${program}`, LIMIT)).done; ) more.push(line.value);
    return more;
  };
  const say = (line) => started.stdin.write(`${line}\n`);
  return { process: started, code, next, rest, say, end: () => started.stdin.end() };
}

/** A program that does its work and ends; `ended` is what it printed, or fails with that. */
function run(t, [program, ...words], variables) {
  const env = { ...process.env, ...variables };
  const started = spawn(program, words, { cwd: here, env, timeout: LIMIT, killSignal: 'SIGKILL' });
  t.after(() => stop(started));
  const [printed, complained] = [collect(started.stdout), collect(started.stderr)];
  const ended = once(started, 'close').then(([code, signal]) => {
    assert(code === 0, `${words.join(' ')} ended with ${code ?? signal}:\n${printed()}${complained()}`);
    return printed();
  });
  return { process: started, ended };
}

async function stop(started) {
  if (started.exitCode !== null || started.signalCode !== null) return;
  const exited = once(started, 'exit');
  started.kill();
  await within(exited, `the end of ${started.spawnfile}`).catch((fault) => {
    started.kill('SIGKILL');
    throw fault;
  });
}

function collect(stream) {
  let text = '';
  stream.setEncoding('utf8').on('data', (more) => (text += more));
  return () => text;
}
