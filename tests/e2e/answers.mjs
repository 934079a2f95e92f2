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
 * Presses until that is an answer, as a person does who sees that it was none: what moves a button at the last moment, or gets
 * in between, makes it wait anew. Whether it is open and armed is asked before each press.
 */
export function pressed(words, { isOpen, isArmed, press }) {
  return until(words, async () => {
    if (!(await isOpen())) return true;
    if (!(await isArmed())) return false;
    await press();
    return until('the question to be gone', async () => !(await isOpen()), 5_000);
  });
}

/** The question of a small window. */
const small = (window) => ({
  isOpen: async () => !(await window.isGone()),
  isArmed: async () => (await look(window)).armed_in === 0,
});

/**
 * Reads the question, and presses the button. Its window goes, so that the next one is not taken for it. What stands longer comes
 * once all was in view, and the clock starts anew with it.
 */
export async function answer(window, button) {
  await until(`the answer ${button}`, () => window.has('button', button));
  await window.drawn();
  await armed(window);
  await until('a hand that rested', () => Date.now() - answered > HAND);
  await pressed(`an answer by ${button}`, { ...small(window), press: () => window.click('button', button) });
  answered = Date.now();
}

/** The same with the pointer of the display. */
export function answerByHand(stage, window, button) {
  const press = async () => stage.clickAt(await onDisplay(stage, window, 'button', button));
  return pressed(`an answer by a click on ${button}`, { ...small(window), press });
}

/** Answers the one question of the list in the main window, by its button or as this says. */
export async function answerInList(main, button, press = () => main.click('button', button)) {
  const asked = async () => (await main.view()).snapshot.questions;
  const { id } = await until('a question in the list', async () => (await asked())[0]);
  const isOpen = async () => (await asked()).some((question) => question.id === id);
  const isArmed = async () => (await main.ask({ ask: 'question', id, about: { about: 'look' } })).question?.armed_in === 0;
  await pressed(`an answer by ${button} in the list`, { isOpen, isArmed, press });
}

/** Answers the one question at the door, in the main window. */
export async function answerAtDoor(main, button) {
  const asked = async () => (await main.view()).snapshot.door_questions;
  const { id } = await until('a question at the door', async () => (await asked())[0]);
  const isOpen = async () => (await asked()).some((question) => question.id === id);
  const isArmed = async () => (await main.ask({ ask: 'door_question', id, about: { about: 'look' } })).door_question?.armed_in === 0;
  await pressed(`an answer by ${button} at the door`, { isOpen, isArmed, press: () => main.click('button', button) });
}

/** Where on the display something of the window of a question is, or of another one. */
export async function onDisplay(stage, window, role, name, title = QUESTION) {
  const [place, middle] = [await stage.area(title), await window.middle(role, name)];
  // Larger text makes all that the page counts larger.
  const scale = place.width / (await window.run(() => innerWidth));
  return { x: place.x + middle.x * scale, y: place.y + middle.y * scale };
}
