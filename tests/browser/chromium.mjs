// One headless Chromium for all tests, and for each test a profile of its own in it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, rmSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

import { bundle, notes, serve } from '../../examples/notes/pages.mjs';
import { LIMIT, within } from './waits.mjs';

const program = process.env.CHROMIUM ?? 'chromium';
const flags = [
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Root cannot have Chromium's sandbox.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

const executablePath = await findProgram();
const browser = await chromium.launch({ executablePath, args: flags, timeout: LIMIT });
after(() => browser.close());

const servers = { notes: await serve(await notes(), 0), bare: await serve(await bare(), 0) };
after(() => Object.values(servers).forEach((server) => server.close()));

/** Where the pages are. */
export const notesUrl = urlOf(servers.notes);
export const bareUrl = urlOf(servers.bare);

/** A fresh profile; what its pages complain about on the console fails the test at its end. */
export async function profile(t, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, ...options });
  context.setDefaultTimeout(LIMIT);
  const faults = [];
  context.on('weberror', (error) => faults.push(error.error().stack));
  // A connection that does not come about is always on the console.
  context.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('WebSocket connection')) faults.push(message.text());
  });
  t.after(async () => {
    await within(context.close(), 'the end of the profile');
    assert.deepEqual(faults, []);
  });
  return context;
}

/** The notes, in a fresh profile. */
export async function openNotes(t, options) {
  const context = await profile(t, options);
  return openTab(context, notesUrl);
}

/** A page that the test writes the script of, in a fresh profile. */
export async function openBare(t) {
  return openTab(await profile(t), bareUrl);
}

export async function openTab(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** What newer browsers do with a page that they freeze: they end its connections, as it hears once it is thawed. */
const ENDING = 'DisconnectWebSocketOnBFCache';

/**
 * A page in a Chromium of its own that lets it freeze: the driver's pages always believe that somebody looks. Frozen, it
 * keeps its connections, whatever the browser does by itself.
 */
export function openFreezable(t) {
  return openOwn(t, [`--disable-features=${ENDING}`]);
}

/** Such a page in a browser that ends the connections of a frozen page. One that knows nothing of this keeps them. */
export function openEnding(t) {
  return openOwn(t, [`--enable-features=${ENDING}`]);
}

async function openOwn(t, more) {
  const folder = mkdtempSync(join(tmpdir(), 'clientmcp-chromium-'));
  const words = [...flags, ...more, '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'];
  const started = spawn(executablePath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  // Its own end is not that of its helpers, which still write: the pipe closes when the last of them has gone.
  const closed = once(started, 'close');
  t.after(async () => {
    started.kill();
    await within(closed, 'the end of Chromium');
    rmSync(folder, { recursive: true, maxRetries: 5 });
  });
  const address = new Promise((resolve, reject) => {
    closed.then(() => reject(new Error('Chromium has ended')));
    createInterface({ input: started.stderr }).on('line', (line) => {
      const [, found] = /^DevTools listening on (ws:.*)/.exec(line) ?? [];
      if (found) resolve(found);
    });
  });
  const driven = await chromium.connectOverCDP(await within(address, "Chromium's address"), { noDefaults: true, timeout: LIMIT });
  const [context] = driven.contexts();
  context.setDefaultTimeout(LIMIT);
  return openTab(context, bareUrl);
}

/** The browser's permission for a page to reach programs of this machine: prompt, denied or granted. */
export async function setPermission(page, setting) {
  const devtools = await page.context().newCDPSession(page);
  const { targetInfo } = await devtools.send('Target.getTargetInfo');
  const whole = await browser.newBrowserCDPSession();
  await whole.send('Browser.setPermission', {
    permission: { name: 'loopback-network' },
    setting,
    origin: new URL(page.url()).origin,
    browserContextId: targetInfo.browserContextId,
  });
}

function bare() {
  return bundle(`${import.meta.dirname}/page`, 'main.ts', ['index.html']);
}

function urlOf(server) {
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A program's whole path: the driver looks nowhere by itself. */
async function findProgram() {
  const folders = isAbsolute(program) ? [''] : process.env.PATH.split(delimiter);
  for (const path of folders.map((folder) => join(folder, program))) {
    const found = await access(path, constants.X_OK).then(() => path, () => undefined);
    if (found) return found;
  }
  throw new Error(`${program} is not there; the environment variable CHROMIUM may name another Chromium or Chrome`);
}
