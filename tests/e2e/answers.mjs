// What a person does with a question.

import { QUESTION } from './app.mjs';
import { LIMIT, until } from './waiting.mjs';

/** How the question of this small window stands, as the window itself is told. */
export async function look(window) {
  return (await window.askOf({ about: 'look' })).question;
}

/** Waits until something can be allowed. */
export function armed(window) {
  return until('a question that can be allowed', async () => (await look(window)).armed_in === 0);
}

/** By what it is told when this button counts. */
const clock = (button) => (`${button}`.includes('Deny') ? 'deny_in' : 'armed_in');

/**
 * Presses until that is an answer, as a person does who sees that it was none: what moves a button at the last moment, or gets
 * in between, makes it wait anew. Whether it is open, and such an answer counts, is asked before each press.
 */
export function pressed(words, { isOpen, counts, press }) {
  return until(words, async () => {
    if (!(await isOpen())) return true;
    if (!(await counts())) return false;
    await press();
    return until('the question to be gone', async () => !(await isOpen()), 5_000);
  });
}

/** The question of a small window. */
const small = (window, button) => ({
  isOpen: async () => !(await window.isGone()),
  counts: async () => (await look(window))[clock(button)] === 0,
});

/**
 * Reads the question, and presses the button. Its window goes, so that the next one is not taken for it.
 */
export async function answer(window, button) {
  await until(`the answer ${button}`, () => window.has('button', button));
  await window.drawn();
  await pressed(`an answer by ${button}`, { ...small(window, button), press: () => window.click('button', button) });
}

/** The same with the pointer of the display. */
export function answerByHand(stage, window, button) {
  const press = async () => stage.clickAt(await onDisplay(stage, window, 'button', button));
  return pressed(`an answer by a click on ${button}`, { ...small(window, button), press });
}

/** Answers the one question of the list in the main window, by its button or as this says. */
export async function answerInList(main, button, press = () => main.click('button', button)) {
  const { isOpen, look } = await inList(main);
  const counts = async () => (await look())?.[clock(button)] === 0;
  await pressed(`an answer by ${button} in the list`, { isOpen, counts, press });
}

async function inList(main) {
  const asked = async () => (await main.view()).snapshot.questions;
  const { id } = await until('a question in the list', async () => (await asked())[0]);
  const isOpen = async () => (await asked()).some((question) => question.id === id);
  return { isOpen, look: async () => (await main.ask({ ask: 'question', id, about: { about: 'look' } })).question };
}

/** Answers the one question at the door, in the main window. */
export async function answerAtDoor(main, button, press = () => main.click('button', button)) {
  const asked = async () => (await main.view()).snapshot.door_questions;
  const { id } = await until('a question at the door', async () => (await asked())[0]);
  const isOpen = async () => (await asked()).some((question) => question.id === id);
  const look = async () => (await main.ask({ ask: 'door_question', id, about: { about: 'look' } })).door_question;
  const counts = async () => (await look())?.[clock(button)] === 0;
  await pressed(`an answer by ${button} at the door`, { isOpen, counts, press });
}

/** Where on the display something of the window of a question is, or of another one. */
export async function onDisplay(stage, window, role, name, title = QUESTION, limit = LIMIT) {
  const [place, middle] = [await stage.area(title), await window.middle(role, name, limit)];
  // Larger text makes all that the page counts larger.
  const scale = place.width / (await window.run(() => innerWidth));
  return { x: place.x + middle.x * scale, y: place.y + middle.y * scale };
}
