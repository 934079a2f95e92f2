// The browser's own permission to reach programs of this machine, which a page of the web needs.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startBridge } from './bridge.mjs';
import { notesUrl, openTab, profile, setPermission } from './chromium.mjs';
import { headline } from './person.mjs';
import { options } from './waits.mjs';

const SITE = 'https://notes.example/';

// holds: js-browser-permission
test('while the browser would ask, loading the page connects nowhere, and a click does', options, async (t) => {
  const { page, sockets } = await siteWithToken(t, 'prompt');
  await headline(page, 'Your browser will ask for a permission');
  assert.deepEqual(sockets, []);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  // Nobody answers a headless browser's question: it lets the page know that the connection did not come about.
  await page.getByText('No connection came about.').waitFor();
  assert.equal(sockets.length, 1);
  await setPermission(page, 'granted');
  await headline(page, 'Connected');
});

// holds: js-browser-permission
test('a page that the browser blocks says what to do, and connects when that is done', options, async (t) => {
  const { page, sockets } = await siteWithToken(t, 'denied');
  await headline(page, 'Your browser blocks the connection');
  await page.getByText("Allow it in the browser's settings").waitFor();
  assert.deepEqual(sockets, []);
  await setPermission(page, 'granted');
  await headline(page, 'Connected');
});

// holds: js-browser-permission
test('a page that may connect does so when it is loaded', options, async (t) => {
  const { page } = await siteWithToken(t, 'granted');
  await headline(page, 'Connected');
});

/** The notes as a page of the web, loaded with a token from before and with this permission. */
async function siteWithToken(t, permission) {
  const bridge = await startBridge(t);
  const context = await profile(t);
  await context.route(`${SITE}**`, async (route) => {
    const response = await route.fetch({ url: new URL(new URL(route.request().url()).pathname, notesUrl).href });
    await route.fulfill({ response });
  });
  const page = await openTab(context, SITE);
  await setPermission(page, permission);
  await page.evaluate(([token, port]) => {
    localStorage.setItem('notes.token', token);
    localStorage.setItem('notes.port', port);
  }, [bridge.token('client'), bridge.port]);
  const sockets = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.reload();
  return { page, sockets };
}
