// Pictures of every view, to be looked at: `npm run screens` writes them to `screenshots/`, which git ignores. The built
// pages run in Chromium under the policy that the app gives them, with a fake app behind them.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const here = import.meta.dirname;
const dist = join(here, '../dist');
const out = join(here, '../../screenshots');
const { csp } = JSON.parse(readFileSync(join(here, '../../src-tauri/tauri.conf.json'), 'utf8')).app.security;
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const only = process.argv[2] ?? '';

const server = createServer((request, response) => {
  // How large text is stands first. Every text and every length in `rem` follows the size of the root, as in the web view.
  const [, text, path] = /^\/text-(\d+)(\/[^?]*)/.exec(request.url) ?? [, 1, request.url];
  if (path === '/favicon.ico') return response.writeHead(204).end();
  try {
    let body = readFileSync(join(dist, path));
    if (path.endsWith('.css')) body = body.toString().replace(/html\{font-size:13px/, `html{font-size:${13 * text}px`);
    response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream', 'Content-Security-Policy': csp });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const base = `http://127.0.0.1:${server.address().port}`;

const { outputFiles } = await build({ entryPoints: [join(here, 'support/scenes.ts')], bundle: true, write: false, format: 'iife', globalName: 'scenes', target: 'es2022' });
const scenes = outputFiles[0].text;

const flags = ['--headless', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [...flags, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
mkdirSync(out, { recursive: true });

// Width, height, and how many times as large as usual text is.
const MAIN = [[1000, 700, 1], [800, 600, 1], [800, 560, 2]];
// The small window's sizes: where there is room, and on displays of 1280 x 800 and 800 x 600 with text of twice the size.
const SMALL = [[460, 620, 1], [920, 712, 2], [752, 512, 2]];
const PAGES = {
  'index.html': [MAIN, ['applications', 'application-tool', 'application-offline', 'empty', 'approvals', 'approvals-none', 'approvals-door', 'approvals-door-token', 'calls', 'call', 'connect', 'connect-url', 'connect-pairs', 'connect-closed', 'settings', 'new-application', 'copy-token', 'try', 'confirm', 'forget', 'keys', 'failed', 'paused', 'quitting', 'copied', 'first-tray']],
  'question.html': [SMALL, ['question', 'question-arming', 'question-new', 'question-large', 'question-exact', 'question-door', 'question-long', 'question-deep', 'question-more']],
};

const faults = [];
for (const [page, [sizes, names]] of Object.entries(PAGES)) {
  for (const name of names.filter((name) => name.includes(only))) {
    for (const theme of ['light', 'dark']) {
      for (const size of sizes) {
        await picture(page, name, theme, size);
      }
    }
  }
}
await browser.close();
server.close();
assert.deepEqual(faults, []);

async function picture(page, name, theme, [width, height, text]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, deviceScaleFactor: 1.25 });
  const tab = await context.newPage();
  tab.on('console', (message) => message.type() === 'error' && faults.push(`${name}: ${message.text()}`));
  tab.on('pageerror', (error) => faults.push(`${name}: ${error.stack}`));
  await tab.addInitScript(`${scenes}; globalThis.scenes = scenes; scenes.begin(${JSON.stringify(name)});`);
  await tab.goto(`${base}/text-${text}/${page}`);
  await tab.waitForTimeout(250);
  await tab.evaluate((name) => globalThis.scenes.act(name), name);
  await tab.waitForTimeout(350);
  await tab.screenshot({ path: join(out, `${name}-${theme}-${width}${text === 1 ? '' : `-text-${text}`}.png`) });
  await context.close();
}
