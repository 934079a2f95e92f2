// How the notes look, for a person to look at: pictures in the folder `screenshots`, which git ignores.

import { join } from 'node:path';
import { test } from 'node:test';

import { startBridge } from './bridge.mjs';
import { openNotes } from './chromium.mjs';
import { connected, headline, paste } from './person.mjs';
import { options } from './waits.mjs';

const folder = join(import.meta.dirname, '../../screenshots');
const WINDOW = { width: 800, height: 600 };
const PHONE = { width: 360, height: 740 };

for (const colorScheme of ['light', 'dark']) {
  test(`not connected, ${colorScheme}`, options, async (t) => {
    const page = await openNotes(t, { colorScheme });
    await page.getByText('Where do I get a token?').click();
    await picture(page, `start-${colorScheme}`);
  });

  test(`a call under way, ${colorScheme}`, options, async (t) => {
    const page = await busy(t, { colorScheme });
    await picture(page, `connected-${colorScheme}`);
  });

  test(`a question, ${colorScheme}`, options, async (t) => {
    const { page, agent } = await connected(t, { colorScheme, viewport: WINDOW });
    const { id } = (await agent.call('add_note', { text: 'Call the dentist about Thursday' })).structuredContent;
    const given = new AbortController();
    t.after(() => given.abort());
    agent.call('delete_note', { id }, given.signal).catch(() => undefined);
    await page.getByRole('dialog').waitFor();
    await picture(page, `question-${colorScheme}`, { fullPage: false });
  });
}

test('refused', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openNotes(t, { viewport: WINDOW });
  await paste(page, bridge.foreignToken(), bridge.port);
  await headline(page, 'The bridge refused that token');
  await paste(page, bridge.token('agent'), bridge.port);
  await picture(page, 'refused');
});

test('no bridge, and replaced', options, async (t) => {
  const { bridge, page } = await connected(t, { viewport: WINDOW });
  const other = await page.context().newPage();
  await other.goto(page.url());
  await headline(page, 'Another tab or program took over');
  await picture(page, 'replaced');
  await bridge.stop();
  await headline(other, 'No bridge answers');
  await picture(other, 'waiting');
});

test('a phone', options, async (t) => {
  const start = await openNotes(t, { viewport: PHONE });
  await picture(start, 'phone-start');
  await picture(await busy(t, { viewport: PHONE }), 'phone-connected');
});

/** The page with notes, past calls and one that runs. */
async function busy(t, more) {
  const { page, agent } = await connected(t, more);
  await page.getByLabel('New note').fill('Oat milk, bread, salt');
  await page.getByLabel('New note').press('Enter');
  await agent.call('add_note', { text: 'Call the dentist about Thursday.\nThey open at nine.' });
  await agent.call('add_note', { text: 'اشترِ الخبز' });
  await agent.call('edit_note', { id: 'gone', text: 'Anything' });
  const given = new AbortController();
  t.after(() => given.abort());
  agent.call('read_through', { seconds: 60 }, given.signal).catch(() => undefined);
  await page.locator('.note.reading').waitFor();
  await page.getByRole('button', { name: 'Edit: Call' }).click();
  return page;
}

function picture(page, name, more) {
  const path = join(folder, `notes-${name}.png`);
  return page.screenshot({ path, fullPage: true, animations: 'disabled', ...more });
}
