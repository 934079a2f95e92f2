// Real clicks and keys on the display: what was meant for something else allows nothing.

import assert from 'node:assert/strict';

import { setTimeout as delay } from 'node:timers/promises';

import { answer, answerByHand, armed, look, onDisplay } from './answers.mjs';
import { MAIN, QUESTION } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { DENY, ONCE } from './words.mjs';
import { connected } from './world.mjs';

/** Clicks of somebody in a hurry, once the window is there. */
const HASTY = 6;

/** For so long nothing can be allowed, in ms. */
const UNARMED = 600;

/**
 * What somebody in a hurry does, and whether it allowed something. Never within 600 ms; and a hand that a busy machine makes
 * slower than that says nothing, so it tries again. `began` comes before the moment from which the time counts.
 */
async function allowsNothing(hurry) {
  for (let time = 1; time <= 5; time += 1) {
    const { allowed, began } = await hurry(time);
    if (!allowed) return;
    const after = performance.now() - began;
    assert(after >= UNARMED, `allowed ${after} ms after it began`);
  }
  assert.fail('a hand in a hurry allowed it each time');
}

/** Whether the order reached the shop before the question could be allowed by somebody who waits. */
async function reaches(shop, order, window) {
  await until('the end of the clock, or an order', async () => shop.orders.includes(order) || (await look(window)).armed_in === 0);
  return shop.orders.includes(order);
}

// holds: desktop-question-second
test('a second question where the first was clicked is not allowed by the same hand', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  await allowsNothing(async (time) => {
    const [tea, milk] = [`tea ${time}`, `milk ${time}`];
    const first = told(buyer.order(tea));
    const window = await app.question();
    const second = buyer.order(milk);
    await until('the other one to wait', async () => (await look(window)).others === 1);
    await armed(window);
    const id = (await look(window)).question.id;
    const place = await onDisplay(stage, window, 'button', ONCE);
    let began;
    await until('an answer by the click', async () => {
      if (first.how === undefined && (await look(window)).armed_in === 0) {
        began = performance.now();
        await stage.clickAt(place);
      }
      return until('the answer', () => first.how, 5_000);
    });
    assert.equal(first.how, `ordered ${tea}`);
    // On and on at the same place, while the next one comes up there, and for a while after.
    const next = await until('the next question', async () => {
      await stage.clickAt(place);
      if (shop.orders.includes(milk)) return 'allowed';
      const found = await app.questionNow();
      return found && (await look(found)).question.id !== id && found;
    });
    if (next === 'allowed') return { allowed: true, began };
    for (let click = 0; click < HASTY; click += 1) await stage.clickAt(place);
    const allowed = await reaches(shop, milk, next);
    // Only somebody who waits can allow it.
    if (!allowed) await answerByHand(stage, next, ONCE);
    assert.equal(await second, `ordered ${milk}`);
    await app.noQuestion();
    return { allowed, began };
  });
}));

/** Between two clicks of one hand that goes on: when the second one comes, after the first. */
const GOES_ON = [350, 600];

/** A click within so long after the first was of the same hand, in ms, when the app came to it. */
const SAME_HAND = 800;

/**
 * What one hand does that goes on, and whether it answered what it did not mean. Where a busy machine let too much time pass
 * until its last click, or until the app came to it, that was of another hand, and it is done again: one that means it once
 * too often answers each time.
 */
async function ofOneHand(goesOn) {
  let wrong = 0;
  for (let time = 1; time <= 5; time += 1) {
    const { quick, answered } = await goesOn(time);
    if (quick && !answered) return;
    if (quick) wrong += 1;
  }
  assert.equal(wrong, 0, 'the same hand answered the next question');
  console.log('no hand was quick enough on this machine');
}

// holds: desktop-deny-hand
test('a second click at Deny denies no question that came up there', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  // One after the other in the small window: the next one waits already, or comes as soon as the agent has its answer.
  for (const waits of [true, false]) {
    await ofOneHand(async () => {
      const first = told(buyer.order('tea'));
      const window = await app.question();
      const second = told(waits ? buyer.order('milk') : first.order.then(() => buyer.order('milk')));
      if (waits) await until('the other one to wait', async () => (await look(window)).others === 1);
      await armed(window);
      const quick = await denies(stage, first, () => onDisplay(stage, window, 'button', DENY));
      await window.gone();
      const next = await until('the next question, or its answer', async () => second.how ?? app.questionNow());
      if (next === 'declined') return { quick, answered: true };
      await answer(next, ONCE);
      assert.equal(await second.order, 'ordered milk', waits ? 'it waited' : 'it came');
      return { quick, answered: false };
    });
  }
  // In the list, where the next card is there at once.
  await main.open('Approvals');
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
  const asked = async () => (await main.view()).snapshot.questions;
  await ofOneHand(async (time) => {
    const [salt] = [told(buyer.order('salt')), await until('the question in the list', async () => (await asked())[0])];
    const rice = told(buyer.order(`rice ${time}`));
    await until('the next one in the list', async () => (await asked())[1]);
    await until('a question that can be answered', () => main.isReady('button', ONCE));
    const quick = await denies(stage, salt, () => onDisplay(stage, main, 'button', DENY, MAIN));
    await until('the next card, or its answer', async () => rice.how ?? (await main.text()).includes(`rice ${time}`));
    if (rice.how === 'declined') return { quick, answered: true };
    await until('an answer', async () => {
      if (rice.how === undefined && (await main.isReady('button', ONCE))) await main.click('button', ONCE);
      return rice.how;
    });
    assert.equal(rice.how, `ordered rice ${time}`);
    return { quick, answered: false };
  });
  assert.deepEqual(shop.orders.filter((order) => ['tea', 'salt'].includes(order)), []);
}));

/** An order, and how it ended as soon as it has. */
function told(order) {
  const own = { order, how: undefined };
  order.then((how) => (own.how = how), () => undefined);
  return own;
}

/** Clicks on at Deny, by hands that rest, until one of them was the answer; whether that one was always quick enough. */
async function denies(stage, first, place) {
  const quick = await until('an answer by Deny', async () => {
    const quick = await clickOn(stage, await place());
    await until('the answer', () => first.how, 5_000);
    return { quick };
  });
  assert.equal(first.how, 'declined');
  return quick.quick;
}

/** Clicks there, and goes on; whether it was quick enough to be one hand. */
async function clickOn(stage, place) {
  const begun = performance.now();
  await stage.clickAt(place);
  for (const when of GOES_ON) {
    await delay(Math.max(0, begun + when - performance.now()));
    await stage.clickAt(place);
  }
  return performance.now() - begun < SAME_HAND;
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
  await allowsNothing(async (time) => {
    const began = performance.now();
    const ordered = `milk ${time}`;
    const milk = buyer.order(ordered);
    await until('the next question', async () => {
      await stage.clickAt(place);
      return shop.orders.includes(ordered) || (await stage.shown(QUESTION)).length > 0;
    });
    await stage.clickAt(place);
    const window = await until('the question, or an order', async () => shop.orders.includes(ordered) || app.questionNow());
    if (window === true || (await reaches(shop, ordered, window))) return { allowed: true, began };
    await answer(window, DENY);
    assert.equal(await milk, 'declined');
    return { allowed: false };
  });
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
  await answerByHand(stage, question, DENY);
  assert.equal(await tea, 'declined');
  // Not even the click took it.
  assert.equal((await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim(), 'somebody writes');
}));

// holds: desktop-arming
test('a question that was hidden and is shown again is armed anew', options, onStage({}, async (stage) => {
  const { app, shop, buyer } = await connected(stage);
  await allowsNothing(async (time) => {
    const ordered = `tea ${time}`;
    const tea = buyer.order(ordered);
    const window = await app.question();
    await armed(window);
    const place = await onDisplay(stage, window, 'button', ONCE);
    // What "show desktop" does, and undoes.
    await stage.run('wmctrl', ['-k', 'on']);
    await until('the question to be off the screen', async () => (await stage.shown(QUESTION)).length === 0);
    await until('the clock to stand', async () => (await look(window)).armed_in === null);
    assert(!shop.orders.includes(ordered));
    const began = performance.now();
    await stage.run('wmctrl', ['-k', 'off']);
    await until('the question to be back', async () => (await stage.shown(QUESTION)).length > 0);
    await stage.clickAt(place);
    const allowed = await reaches(shop, ordered, window);
    if (!allowed) await answer(window, ONCE);
    assert.equal(await tea, `ordered ${ordered}`);
    await app.noQuestion();
    return { allowed, began };
  });
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
