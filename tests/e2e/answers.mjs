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
 * Reads the question, and presses the button; its window goes, so that the next one is not taken for it. What stands longer
 * comes once all was in view, and the clock starts anew with it.
 */
export async function answer(window, button) {
  await until(`the answer ${button}`, () => window.has('button', button));
  await window.drawn();
  await armed(window);
  await window.click('button', button);
  await window.gone();
}

/** Where on the display something of the window of a question is, or of another one. */
export async function onDisplay(stage, window, role, name, title = QUESTION) {
  const [place, middle] = [await stage.area(title), await window.middle(role, name)];
  // Larger text makes all that the page counts larger.
  const scale = place.width / (await window.run(() => innerWidth));
  return { x: place.x + middle.x * scale, y: place.y + middle.y * scale };
}
