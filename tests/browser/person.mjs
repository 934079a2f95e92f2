// What a person does with the notes, and sees.

import assert from 'node:assert/strict';

import { startBridge } from './bridge.mjs';
import { openNotes } from './chromium.mjs';
import { eventually } from './waits.mjs';

/** The page, connected, and an agent. */
export async function connected(t, more) {
  const bridge = await startBridge(t);
  const page = await openNotes(t, more);
  await paste(page, bridge.token('client'), bridge.port);
  await headline(page, 'Connected');
  return { bridge, page, agent: bridge.agent() };
}

/** Pastes a token, and connects. */
export async function paste(page, token, port) {
  await page.getByLabel('Client token').fill(token);
  await page.getByLabel('Bridge’s port').fill(port);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
}

/** Waits until the page says so of its connection. */
export function headline(page, name) {
  return page.getByRole('heading', { name, exact: true }).waitFor();
}

/**
 * Answers the question with a click, once it is there. The page counts no answer right after a question came, so the
 * click is made until it is one.
 */
export async function answer(page, name) {
  const button = page.getByRole('dialog').getByRole('button', { name });
  // The call that asks may still be on its way.
  await button.waitFor();
  const text = await page.locator('#question-text').textContent();
  const isOpen = async () => (await button.isVisible()) && (await page.locator('#question-text').textContent()) === text;
  await eventually(`a click on “${name}” to be an answer`, async () => {
    // It may go while it is clicked.
    if (await isOpen()) await button.click({ timeout: 10_000 });
    assert(!(await isOpen()), `no click on “${name}” answers the question`);
  });
}
