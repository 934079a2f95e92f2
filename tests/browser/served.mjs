// The example's files, and what its server gives to whom.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';

import { notesUrl } from './chromium.mjs';
import { options, within } from './waits.mjs';

const { port } = new URL(notesUrl);

// holds: notes-served
test('the files of the page are served with their types, and nothing else is', options, async () => {
  for (const [path, type] of [
    ['/', 'text/html; charset=utf-8'],
    ['/index.html?x', 'text/html; charset=utf-8'],
    ['/style.css', 'text/css; charset=utf-8'],
    ['/main.js', 'text/javascript; charset=utf-8'],
    ['/icon.svg', 'image/svg+xml'],
  ]) {
    const { status, headers } = await ask('GET', path);
    assert.deepEqual([status, headers['content-type']], [200, type], path);
  }
  for (const path of ['/serve.mjs', '/src/main.ts', '/../README.md', '/..%2fREADME.md', '//etc/passwd', '/style.css/', '*']) {
    assert.equal((await ask('GET', path)).status, 404, path);
  }
});

// holds: notes-served
test('only reading is served', options, async () => {
  const head = await ask('HEAD', '/');
  assert.deepEqual([head.status, head.body], [200, '']);
  assert(Number(head.headers['content-length']) > 0);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    assert.equal((await ask(method, '/')).status, 405, method);
  }
});

// holds: notes-served
test('a page of the web that has its own name point here gets nothing', options, async () => {
  assert.equal((await ask('GET', '/', `localhost:${port}`)).status, 200);
  for (const host of ['notes.example', `notes.example:${port}`, '127.0.0.1', `127.0.0.1:${port}.notes.example`]) {
    assert.equal((await ask('GET', '/', host)).status, 403, host);
  }
});

test('the types of the pages hold, which nothing that bundles them looks at', options, async () => {
  const sdk = join(import.meta.dirname, '../../sdk/js/package.json');
  const words = [createRequire(sdk).resolve('typescript/bin/tsc'), '--noEmit', '-p', 'page'];
  const tsc = spawn(process.execPath, words, { cwd: import.meta.dirname, stdio: 'inherit' });
  assert.deepEqual(await within(once(tsc, 'exit'), 'the end of tsc'), [0, null]);
});

/** A request as it is written here: no client tidies the path or the host. */
async function ask(method, path, host = `127.0.0.1:${port}`) {
  const socket = connect(Number(port), '127.0.0.1');
  socket.setEncoding('latin1').write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let text = '';
  socket.on('data', (more) => (text += more));
  await within(once(socket, 'close'), `the answer to ${method} ${path}`);
  const [head, body] = text.split('\r\n\r\n', 2);
  const [line, ...lines] = head.split('\r\n');
  const headers = lines.map((header) => header.split(': ', 2)).map(([name, value]) => [name.toLowerCase(), value]);
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body };
}
