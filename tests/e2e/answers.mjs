// What a person does with a question.

import { QUESTION } from './app.mjs';
import { until } from './waiting.mjs';

/** How the question of this small window stands, as the window itself is told. */
export async function look(window) {
  return (await window.askOf({ about: 'look' })).question;
}

/** Waits until something can be allowed. */
export function armed(window) {
  return until('a question that can be allowed', async () => (await look(window)).armed_in === 0);
}

/** Where another question was, a no is taken for a second click at that one, for so long. */
const HAND = 1_100;

/** When a test answered last. */
let answered = 0;

/**
 * Reads the question, and presses the button until that is an answer: what moves it at the last moment makes it wait anew. Its
 * window goes, so that the next one is not taken for it. What stands longer comes once all was in view, and the clock starts
 * anew with it.
 */
export async function answer(window, button) {
  await until(`the answer ${button}`, () => window.has('button', button));
  await window.drawn();
  await armed(window);
  await until('a hand that rested', () => Date.now() - answered > HAND);
  await until(`an answer by ${button}`, async () => {
    if (await window.isGone()) return true;
    if ((await look(window)).armed_in !== 0) return false;
    await window.click('button', button);
    return until('the window to go', () => window.isGone(), 5_000);
  });
  answered = Date.now();
}

/** The same with the pointer of the display. */
export function answerByHand(stage, window, button) {
  return until(`an answer by a click on ${button}`, async () => {
    if (await window.isGone()) return true;
    if ((await look(window)).armed_in !== 0) return false;
    await stage.clickAt(await onDisplay(stage, window, 'button', button));
    return until('the window to go', () => window.isGone(), 5_000);
  });
}

/** Where on the display something of the window of a question is, or of another one. */
export async function onDisplay(stage, window, role, name, title = QUESTION) {
  const [place, middle] = [await stage.area(title), await window.middle(role, name)];
  // Larger text makes all that the page counts larger.
  const scale = place.width / (await window.run(() => innerWidth));
  return { x: place.x + middle.x * scale, y: place.y + middle.y * scale };
}
