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

/**
 * Reads the question, and presses the button until that is an answer: what moves it at the last moment makes it wait anew. Its
 * window goes, so that the next one is not taken for it.
 */
export async function answer(window, button) {
  await armed(window);
  await until(`an answer by ${button}`, async () => {
    if (await window.isGone()) return true;
    if ((await look(window)).armed_in !== 0) return false;
    await window.click('button', button);
    return until('the window to go', () => window.isGone(), 5_000);
  });
}

/** Where on the display something of the window of a question is. */
export async function onDisplay(stage, window, role, name) {
  const [id] = await until('the window of a question on the display', async () => {
    const found = await stage.shown(QUESTION);
    return found.length > 0 && found;
  });
  const [place, middle] = [await stage.place(id), await window.middle(role, name)];
  return { x: place.x + middle.x, y: place.y + middle.y };
}
