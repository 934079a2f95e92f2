// What a person does with a question.

import { until } from './waiting.mjs';

/** How the question of this small window stands, as the window itself is told. */
export async function look(window) {
  return (await window.askOf({ about: 'look' })).question;
}

/** Waits until something can be allowed. */
export function armed(window) {
  return until('a question that can be allowed', async () => (await look(window)).armed_in === 0);
}

/** Reads the question, and presses the button. */
export async function answer(window, button) {
  await armed(window);
  await window.click('button', button);
}

/** Where on the display something of a window is. */
export async function onDisplay(stage, window, role, name) {
  const title = await window.title();
  const [id] = await until(`${title} on the display`, async () => {
    const found = await stage.shown(`^${title}$`);
    return found.length && found;
  });
  const [place, middle] = [await stage.place(id), await window.middle(role, name)];
  return { x: place.x + middle.x, y: place.y + middle.y };
}
