// Real clicks and keys on the display: what was meant for something else allows nothing.

import assert from 'node:assert/strict';

import { answer, armed, look, onDisplay } from './answers.mjs';
import { QUESTION } from './app.mjs';
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
