// The notes as a person and an agent meet them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startBridge } from './bridge.mjs';
import { notesUrl, openNotes, openTab, profile } from './chromium.mjs';
import { answer, connected, headline, paste } from './person.mjs';
import { eventually, holds, options } from './waits.mjs';

const ALL = ['list_notes', 'read_through', 'add_note', 'edit_note', 'delete_note'];
const EMPTY = ['list_notes', 'add_note'];

// holds: notes-connect
test('a person pastes a token, by keyboard alone, and agents can call', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openNotes(t);
  await headline(page, 'Not connected');
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(bridge.token('client'));
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(bridge.port);
  await page.keyboard.press('Enter');
  await headline(page, 'Connected');
  await page.getByText('Agents that hold a token for “notes” can use the tools below.').waitFor();
  assert.deepEqual(await bridge.agent().tools(), EMPTY);
  await page.reload();
  await headline(page, 'Connected');
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await headline(page, 'Disconnected');
  await eventually('the tools to be gone', async () => assert.deepEqual(await bridge.agent().tools(), []));
  await page.getByRole('button', { name: 'Use another token' }).click();
  await headline(page, 'Not connected');
  assert.equal(await page.evaluate(() => localStorage.getItem('notes.token')), null);
});

// holds: notes-connect
test('a text that is no client token is explained, and sent to nobody', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openNotes(t);
  page.on('websocket', () => assert.fail('it connected'));
  const fault = page.getByRole('alert');
  for (const [token, port, words] of [
    ['', '27182', 'Paste a token first.'],
    ['clientmcp token notes', '27182', 'That is no token.'],
    [`the ${bridge.token('client')}`, '27182', 'That is no token.'],
    [bridge.token('agent'), '27182', 'That is a token for an agent.'],
    [ended(), '27182', 'That token ended on'],
    [bridge.token('client'), 'x', 'A port is a number from 1 to 65535.'],
  ]) {
    await paste(page, token, port);
    await fault.filter({ hasText: words }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.ariaInvalid), 'true', 'the wrong field has the focus');
  }
});

// holds: notes-connect
test('a token that the bridge refuses is asked for again, as often as it takes', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openNotes(t);
  for (let time = 1; time <= 3; time += 1) {
    await paste(page, bridge.foreignToken(), bridge.port);
    await headline(page, 'The bridge refused that token');
    assert.equal(await page.getByLabel('Client token').inputValue(), '');
  }
  await page.getByText('Make a new one and paste it here.').waitFor();
  await paste(page, bridge.token('client'), bridge.port);
  await headline(page, 'Connected');
});

// holds: notes-connect
test('without a bridge the page says so, and connects when there is one', options, async (t) => {
  const { bridge, page } = await connected(t);
  await bridge.stop();
  await headline(page, 'No bridge answers');
  await page.getByText(`ClientMCP does not seem to run on port ${bridge.port}.`).waitFor();
  await page.getByText(/Next try in \d+ s|Trying now/).waitFor();
  await bridge.start();
  await headline(page, 'Connected');
  // By itself it would try again in 1000 s, longer than anything is waited for here.
  await page.evaluate(() => (Math.random = () => 2_000));
  await bridge.stop();
  await page.getByText(/Next try in \d{3,4} s/).waitFor();
  await bridge.start();
  await page.getByRole('button', { name: 'Try now' }).click();
  await headline(page, 'Connected');
});

// holds: notes-connect
test('a second tab takes over, and the first takes it back on a click', options, async (t) => {
  const { bridge, page } = await connected(t);
  const other = await openTab(page.context(), notesUrl);
  await headline(other, 'Connected');
  await headline(page, 'Another tab or program took over');
  await page.getByRole('button', { name: 'Take over' }).click();
  await headline(page, 'Connected');
  await headline(other, 'Another tab or program took over');
  // The notes are the same in both.
  await bridge.agent().call('add_note', { text: 'milk' });
  await other.getByText('milk').waitFor();
});

// holds: notes-edit
test('person and agent edit the same notes', options, async (t) => {
  const { page, agent } = await connected(t);
  await page.getByLabel('New note').fill('bread');
  await page.getByLabel('New note').press('Enter');
  const { structuredContent } = await agent.call('add_note', { text: 'milk' });
  assert.equal(structuredContent.status, 'completed');
  await item(page, 'milk').getByText('written by an agent').waitFor();
  const listed = (await agent.call('list_notes')).structuredContent.notes;
  assert.deepEqual(listed.map(({ text, by }) => [text, by]), [['bread', 'you'], ['milk', 'agent']]);

  await agent.call('edit_note', { id: structuredContent.id, text: 'oat milk' });
  await page.getByRole('button', { name: 'Edit: oat milk' }).click();
  const inUse = await agent.call('edit_note', { id: structuredContent.id, text: 'soy milk' });
  assert.deepEqual([inUse.isError, inUse.structuredContent.reason.code], [true, 'in-use']);
  // What others do takes nothing from who is writing.
  await agent.call('add_note', { text: 'salt' });
  await page.keyboard.type(', 2 l');
  await page.keyboard.press('Enter');
  await item(page, 'oat milk, 2 l').getByText('written by you').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Edit: oat milk, 2 l');

  await page.getByRole('button', { name: 'Delete: bread' }).click();
  assert.deepEqual(await texts(agent), ['oat milk, 2 l', 'salt']);
  await page.getByRole('button', { name: 'Undo' }).click();
  assert.deepEqual(await texts(agent), ['bread', 'oat milk, 2 l', 'salt']);
  await page.reload();
  assert.equal(await page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Edit' }) }).count(), 3);
});

// holds: notes-edit
test('arguments that do not fit are tool errors', options, async (t) => {
  const { agent } = await connected(t);
  await agent.call('add_note', { text: 'milk' });
  for (const [name, args, words] of [
    ['add_note', {}, '`text` must be a string of 1 to 2000 characters'],
    ['add_note', { text: ' ' }, '`text` must be'],
    ['add_note', { text: '\u200b\u202e\u3164\n' }, '`text` must have a character that can be seen'],
    ['add_note', { text: 'x'.repeat(2_001) }, '`text` must be'],
    ['edit_note', { id: 7, text: 'x' }, 'there is no note with this `id`'],
    ['delete_note', { id: 'none' }, 'there is no note with this `id`'],
    ['read_through', { seconds: '1' }, '`seconds` must be a number from 0 to 60'],
  ]) {
    const { text, isError } = await agent.text(name, args);
    assert(isError && text.startsWith(words), `${name}: ${text}`);
  }
  assert.deepEqual(await texts(agent), ['milk']);
});

// holds: notes-tools
test('tools come and go with what can be done', options, async (t) => {
  const { page, agent } = await connected(t);
  const changes = await agent.listen(t);
  await page.getByLabel('New note').fill('bread');
  await page.getByLabel('New note').press('Enter');
  await changes.next();
  assert.deepEqual(await agent.tools(), ALL);
  await page.getByLabel('Agents may change notes').uncheck();
  await changes.next();
  assert.deepEqual(await agent.tools(), ['list_notes', 'read_through']);
  assert.equal(await page.getByText('Add a note', { exact: true }).count(), 0);
});

// holds: notes-calls
test('each call is shown as it comes and as it ends', options, async (t) => {
  const { page, agent } = await connected(t);
  await agent.call('add_note', { text: 'bread' });
  await agent.call('add_note', {});
  const given = new AbortController();
  const slow = agent.call('read_through', { seconds: 60 }, given.signal);
  const newest = page.getByRole('log').getByRole('listitem').first();
  await newest.getByText('running').waitFor();
  await page.locator('.note.reading').waitFor();
  await page.getByText('at work…').waitFor();
  given.abort();
  await assert.rejects(slow, { name: 'AbortError' });
  await newest.getByText(/cancelled after/).waitFor();
  await page.locator('.note.reading').waitFor({ state: 'detached' });
  assert.deepEqual((await agent.call('read_through', { seconds: 0 })).structuredContent.notes.map(({ words }) => words), [1]);
  const shown = await page.locator('.call').evaluateAll((calls) =>
    calls.map((call) => [call.querySelector('.name').textContent, call.dataset.state, call.querySelector('bdi').textContent]),
  );
  assert.deepEqual(shown, [
    ['read_through', 'done', '{"seconds":0}'],
    ['read_through', 'cancelled', '{"seconds":60}'],
    ['add_note', 'failed', '`text` must be a string of 1 to 2000 characters'],
    ['add_note', 'done', '{"text":"bread"}'],
  ]);
});

// holds: notes-foreign-text
test('what an agent writes is text and nothing else', options, async (t) => {
  const { page, agent } = await connected(t);
  const text = '<img src=x onerror="document.title=1"><b>bold</b>\u202e reversed';
  const { id } = (await agent.call('add_note', { text })).structuredContent;
  await page.getByText('<b>bold</b>').first().waitFor();
  const question = agent.call('delete_note', { id });
  await page.getByRole('dialog').getByText('<b>bold</b><U+202E> reversed').waitFor();
  assert.equal(await page.locator('main img, main b, dialog b').count(), 0);
  await answer(page, 'Keep it');
  await question;
});

// holds: notes-question
test('a note is deleted after a yes alone', options, async (t) => {
  const { page, agent } = await connected(t);
  const { id } = (await agent.call('add_note', { text: 'bread' })).structuredContent;
  const question = page.getByRole('dialog', { name: 'An agent wants to delete this note' });

  const kept = agent.call('delete_note', { id });
  await question.getByText('bread').waitFor();
  assert.equal(await page.title(), 'Question – Notes');
  // Whoever is typing when it appears has answered nothing.
  await page.keyboard.type(' \n');
  assert(await question.isVisible());
  await answer(page, 'Keep it');
  assert.equal((await kept).structuredContent.reason.code, 'declined');
  assert.equal(await page.title(), 'Notes');

  const deleted = agent.call('delete_note', { id });
  await answer(page, 'Delete it');
  assert.equal((await deleted).structuredContent.status, 'completed');
  assert.deepEqual(await texts(agent), []);
});

// holds: notes-foreign-text
test('a note of line breaks takes no room, and is no blank question', options, async (t) => {
  const { page, agent } = await connected(t);
  const family = '\u{1f469}\u{1f3fd}\u200d\u{1f467}\u2764\ufe0f';
  const { id } = (await agent.call('add_note', { text: `${family}a\n\tb${'\n'.repeat(1_900)}end` })).structuredContent;
  await page.locator('.note').waitFor();
  assert(await page.evaluate(() => document.documentElement.scrollHeight < 2_000));
  const question = agent.call('delete_note', { id });
  await page.getByRole('dialog').waitFor();
  assert.equal(await page.locator('#question-text').textContent(), `${family}a\n\tb <1900 blank characters> end`);
  await answer(page, 'Keep it');
  await question;
});

// holds: notes-question
test('a person gets out of an agent that asks and asks', options, async (t) => {
  const { page, agent } = await connected(t);
  const { id } = (await agent.call('add_note', { text: 'bread' })).structuredContent;
  const question = agent.call('delete_note', { id });
  await page.getByRole('dialog').waitFor();
  for (const busy of await Promise.all([1, 2, 3].map(() => agent.call('delete_note', { id })))) {
    assert.deepEqual([busy.isError, busy.structuredContent.reason.code], [true, 'busy']);
  }
  await answer(page, 'Agents may no longer change notes');
  assert.equal((await question).structuredContent.reason.code, 'declined');
  assert(!(await page.getByLabel('Agents may change notes').isChecked()));
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.deepEqual(await agent.tools(), ['list_notes', 'read_through']);
});

// holds: notes-connect
test('the keyboard keeps its place', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openNotes(t);
  const focused = () => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.id);
  const send = async (token) => {
    await page.getByLabel('Client token').fill(token);
    await page.getByLabel('Bridge’s port').fill(bridge.port);
    await page.keyboard.press('Enter');
  };
  for (let time = 1; time <= 2; time += 1) {
    await send(bridge.foreignToken());
    await page.getByRole('alert').filter({ hasText: 'The bridge refused it' }).waitFor();
    assert.equal(await focused(), 'token');
  }
  await send(`Bearer ${bridge.token('client')}`);
  await headline(page, 'Connected');
  assert.equal(await focused(), 'headline');
  const agent = bridge.agent();
  const { id } = (await agent.call('add_note', { text: 'bread' })).structuredContent;
  await page.getByRole('button', { name: 'Delete: bread' }).focus();
  await agent.call('edit_note', { id, text: 'milk' });
  await item(page, 'milk').waitFor();
  assert.equal(await focused(), 'Delete: milk');
  const deleted = agent.call('delete_note', { id });
  await answer(page, 'Delete it');
  await deleted;
  assert.equal(await focused(), 'notes-heading');
  await page.getByRole('button', { name: 'Disconnect' }).press('Enter');
  await page.getByRole('button', { name: 'Use another token' }).press('Enter');
  await headline(page, 'Not connected');
  assert.equal(await focused(), 'token');
});

// holds: notes-question
test('a question goes with its call, and there is one at a time', options, async (t) => {
  const { page, agent } = await connected(t);
  const bread = (await agent.call('add_note', { text: 'bread' })).structuredContent.id;
  const milk = (await agent.call('add_note', { text: 'milk' })).structuredContent.id;
  const given = new AbortController();
  const first = agent.call('delete_note', { id: bread }, given.signal);
  const question = page.getByRole('dialog');
  await question.getByText('bread').waitFor();
  assert.equal((await agent.call('delete_note', { id: milk })).structuredContent.reason.code, 'busy');
  given.abort();
  await assert.rejects(first, { name: 'AbortError' });
  await question.waitFor({ state: 'hidden' });
  const second = agent.call('delete_note', { id: milk });
  await question.getByText('milk').waitFor();
  await answer(page, 'Delete it');
  assert.equal((await second).structuredContent.status, 'completed');
  await question.waitFor({ state: 'hidden' });
  assert.deepEqual(await texts(agent), ['bread']);
});

// holds: notes-page
test('the page loads nothing from elsewhere, and may not', options, async (t) => {
  const context = await profile(t);
  const requests = [];
  context.on('request', (request) => requests.push(new URL(request.url()).origin));
  const page = await openTab(context, notesUrl);
  await headline(page, 'Not connected');
  assert.deepEqual([...new Set(requests)], [new URL(notesUrl).origin]);
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  const rules = Object.fromEntries(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]));
  assert.equal(rules['default-src'], "'none'");
  assert.equal(rules['connect-src'], 'ws://127.0.0.1:*');
  assert(!/unsafe|data:|https?:/.test(policy));
});

// holds: notes-page
test('it fits a small window and a phone, and everything has a name', options, async (t) => {
  const { bridge, page, agent } = await connected(t);
  await agent.call('add_note', { text: `A note with one very long word: ${'x'.repeat(300)}` });
  for (const [width, height] of [[1100, 800], [800, 600], [360, 640]]) {
    await page.setViewportSize({ width, height });
    await holds(page, `a page ${width} wide`, (width) => innerWidth === width, width);
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} wide`);
  }
  await bridge.stop();
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, input, textarea, summary, dialog')]
      .filter((element) => !(element.ariaLabel || element.labels?.length || element.textContent.trim()))
      .map((element) => element.outerHTML),
  );
  assert.deepEqual(nameless, []);
});

function item(page, text) {
  return page.locator('#note-list').getByRole('listitem').filter({ hasText: text });
}

async function texts(agent) {
  return (await agent.call('list_notes')).structuredContent.notes.map(({ text }) => text);
}

/** A token of the year 2001, signed by nobody. */
function ended() {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'HS256' }), part({ sub: 'notes', role: 'client', exp: 1e9 }), 'x'].join('.');
}
