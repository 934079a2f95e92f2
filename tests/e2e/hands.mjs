// Real clicks and keys on the display: what was meant for something else allows nothing.

import assert from 'node:assert/strict';

import { setTimeout as delay } from 'node:timers/promises';

import { answer, armed, look, onDisplay } from './answers.mjs';
import { MAIN, QUESTION } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, ONCE } from './words.mjs';
import { connected } from './world.mjs';

/** Clicks of somebody in a hurry, once the window is there. */
const HASTY = 6;

// holds: desktop-question-second
test('a second question where the first was clicked is not allowed by the same hand', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  const first = buyer.order('tea');
  const window = await app.question();
  const second = buyer.order('milk');
  await until('the other one to wait', async () => (await look(window)).others === 1);
  await armed(window);
  const id = (await look(window)).question.id;
  const place = await onDisplay(stage, window, 'button', ONCE);
  await stage.clickAt(place);
  assert.equal(await first, 'ordered tea');
  // On and on at the same place, while the next one comes up there, and for a while after.
  const next = await until('the next question', async () => {
    await stage.clickAt(place);
    const found = await app.questionNow();
    return found && (await look(found)).question.id !== id && found;
  });
  for (let click = 0; click < HASTY; click += 1) await stage.clickAt(place);
  // Only somebody who waits can allow it.
  await armed(next);
  assert.deepEqual(shop.orders, ['tea']);
  await stage.clickAt(await onDisplay(stage, next, 'button', ONCE));
  assert.equal(await second, 'ordered milk');
}));

/** When the next clicks of one hand come, after the first. */
const GOES_ON = [350, 600, 800];

/** A click that a busy machine holds up for longer is not of the same hand any more. */
const HELD_UP = 200;

// holds: desktop-deny-hand
test('a second click at Deny denies no question that came up there', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  // One after the other in the small window: the next one waits already, or comes as soon as the agent has its answer.
  for (const waits of [true, false]) {
    const first = buyer.order('tea');
    const window = await app.question();
    const second = waits ? buyer.order('milk') : first.then(() => buyer.order('milk'));
    if (waits) await until('the other one to wait', async () => (await look(window)).others === 1);
    await armed(window);
    await clickOn(stage, await onDisplay(stage, window, 'button', DENY));
    assert.equal(await first, 'declined');
    await window.gone();
    await answer(await app.question(), ONCE);
    assert.equal(await second, 'ordered milk', waits ? 'it waited' : 'it came');
  }
  // In the list, where the next card is there at once.
  await main.open('Approvals');
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
  const asked = async () => (await main.view()).snapshot.questions;
  const [salt] = [buyer.order('salt'), await until('the question in the list', async () => (await asked())[0])];
  const [rice] = [buyer.order('rice'), await until('the next one in the list', async () => (await asked())[1])];
  await until('a question that can be answered', () => main.isReady('button', ONCE));
  await clickOn(stage, await onDisplay(stage, main, 'button', DENY, MAIN));
  assert.equal(await salt, 'declined');
  await until('the next card', async () => (await main.text()).includes('rice'));
  await until('a question that can be answered', () => main.isReady('button', ONCE));
  await main.click('button', ONCE);
  assert.equal(await rice, 'ordered rice');
  assert.deepEqual(shop.orders, ['milk', 'milk', 'rice']);
}));

/** Clicks there, and goes on. */
async function clickOn(stage, place) {
  await stage.clickAt(place);
  const first = Date.now();
  for (const when of GOES_ON) {
    await delay(Math.max(0, first + when - Date.now()));
    if (Date.now() > first + when + HELD_UP) return;
    await stage.clickAt(place);
  }
}

// holds: desktop-question-early
test('a click right after the question appeared allows nothing', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  const warm = buyer.order('tea');
  const place = await onDisplay(stage, await app.question(), 'button', ONCE);
  await answer(await app.question(), DENY);
  assert.equal(await warm, 'declined');
  await app.noQuestion();
  // The same window opens at the same place: the pointer is there already.
  const milk = buyer.order('milk');
  await until('the next question', async () => {
    await stage.clickAt(place);
    return (await stage.shown(QUESTION)).length > 0;
  });
  await stage.clickAt(place);
  const window = await app.question();
  await armed(window);
  assert.deepEqual(shop.orders, []);
  await answer(window, DENY);
  assert.equal(await milk, 'declined');
}));

// holds: desktop-question-keyboard
test('a question takes no key from the window that somebody types into', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  const letters = 'the quick brown fox jumps over the lazy dog '.repeat(3).replaceAll(' ', '');
  const typed = stage.start('xev', 'xev', ['-event', 'keyboard', '-name', 'somebody writes']);
  await until('a window to write into', async () => {
    await stage.run('wmctrl', ['-a', 'somebody writes']);
    return (await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim() === 'somebody writes';
  });
  const writing = stage.type(letters);
  const tea = buyer.order('tea');
  const question = await app.question();
  await writing;
  // Enter and the space bar press buttons, where there is one under the keyboard.
  await stage.press('Return', 'space', 'Tab', 'Return', 'space', 'z');
  await until('the last key', () => keysOf(typed.lines).endsWith('z'));
  assert.equal(keysOf(typed.lines).replace(/[^a-z]/g, ''), `${letters}z`);
  assert.equal((await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim(), 'somebody writes');
  await armed(question);
  assert.deepEqual(shop.orders, []);
  await stage.clickAt(await onDisplay(stage, question, 'button', DENY));
  assert.equal(await tea, 'declined');
  // Not even the click took it.
  assert.equal((await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim(), 'somebody writes');
}));

// holds: desktop-arming
test('a question that was hidden and is shown again is armed anew', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const window = await app.question();
  await armed(window);
  const place = await onDisplay(stage, window, 'button', ONCE);
  // What "show desktop" does, and undoes.
  await stage.run('wmctrl', ['-k', 'on']);
  await until('the question to be off the screen', async () => (await stage.shown(QUESTION)).length === 0);
  await until('the clock to stand', async () => (await look(window)).armed_in === null);
  await stage.run('wmctrl', ['-k', 'off']);
  await until('the question to be back', async () => (await stage.shown(QUESTION)).length > 0);
  await stage.clickAt(place);
  assert.notEqual((await look(window)).armed_in, 0);
  assert.deepEqual(shop.orders, []);
  await answer(window, ONCE);
  assert.equal(await tea, 'ordered tea');
}));

/** The keys that xev saw going down. */
function keysOf(lines) {
  let down = false;
  let keys = '';
  for (const line of lines) {
    if (/^Key(Press|Release) event/.test(line)) down = line.startsWith('KeyPress');
    const [, hex] = /XLookupString gives 1 bytes: \(([0-9a-f]{2})\)/.exec(line) ?? [];
    if (down && hex) keys += String.fromCharCode(Number.parseInt(hex, 16));
  }
  return keys;
}
