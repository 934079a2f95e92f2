// What lies on a question, with and without a compositor, at usual and at large text: real windows, real clicks.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

import { armed, look, onDisplay } from './answers.mjs';
import { MAIN, QUESTION } from './app.mjs';
import { Covers } from './covering.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { ONCE } from './words.mjs';
import { connected } from './world.mjs';

/** Longer than anything needs to be in view: what is not armed after that is not on its way to be. */
const LONG = 1_000;

/** How long a window that comes and goes is there, and is not, in milliseconds: shorter than a question is in view. */
const BLINK = 300;

/** What the window says of a click that came too early, and of one at which something lies on it as the display tells. */
const TOO_EARLY = ['Wait a moment', 'Something lies on it'];

/** What may lie on a question. */
const KINDS = {
  'a window above the others': {},
  'a window without a window manager': { unmanaged: true },
  'a window that lets clicks through': { unmanaged: true, through: true },
};

const DESKTOPS = [
  { windows: 'openbox', text: 1 },
  { windows: 'openbox', text: 2 },
  { windows: 'xfwm4', text: 1 },
  { windows: 'xfwm4', text: 2 },
];

for (const { windows, text } of DESKTOPS) {
  const where = `${windows}, text at ${text * 100}%`;

  // holds: desktop-cover-seen
  test(`a question that something lies on is not allowed (${where})`, options, onStage({ windows, text }, async (stage) => {
    const covers = await Covers.open(stage);
    // Where windows are composited, the display tells no toolkit that one covers another.
    assert.equal(await covers.composited(), windows === 'xfwm4');
    const { app, main, shop, buyer } = await connected(stage);

    // With nothing on it, it is armed and answered.
    const tea = buyer.order('tea');
    let window = await app.question();
    await armed(window);
    await stage.picture(`question-${windows}-${text}`);
    await presses(stage, window, QUESTION, tea);
    assert.equal(await tea, 'ordered tea');
    await window.gone();

    for (const [kind, how] of Object.entries(KINDS)) {
      const orders = [...shop.orders];
      const milk = buyer.order('milk');
      window = await app.question();
      const on = await overTheText(stage, window, QUESTION);
      await covers.show(on, how);
      await refuses(stage, small(window), shop, `${kind}, before it was armed`);
      await covers.hide();
      await armed(window);
      // In the last moment: the pointer is there.
      const place = await onDisplay(stage, window, 'button', ONCE);
      const refused = await hears(window, TOO_EARLY);
      await covers.show(on, how);
      // A window manager is still at it when the window is there.
      if (!how.unmanaged) await until('a clock that stands', async () => (await look(window)).armed_in === null);
      await stage.clickAt(place);
      await until(`${kind}: that the click in the last moment came too early`, refused);
      assert.deepEqual(shop.orders, orders, kind);
      await covers.hide();
      await armed(window);
      await presses(stage, window, QUESTION, milk);
      assert.equal(await milk, 'ordered milk', kind);
      await window.gone();
    }

    // The same in the main window.
    const role = await until('the way to Approvals', async () => {
      for (const role of ['tab', 'link', 'button']) if (await main.has(role, /^Approvals/)) return role;
      return undefined;
    });
    await stage.clickAt(await onDisplay(stage, main, role, /^Approvals/, MAIN));
    await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
    await until('the list in front', async () => (await stage.run('xdotool', ['getactivewindow', 'getwindowname'])).trim() === 'ClientMCP');
    const salt = buyer.order('salt');
    const { id } = await until('the question in the list', async () => (await main.view()).snapshot.questions[0]);
    const inList = async () => (await main.ask({ ask: 'question', id, about: { about: 'look' } })).question;
    const list = { window: main, title: MAIN, looks: inList };
    await until('a question in the list that can be allowed', async () => (await inList()).armed_in === 0);
    for (const [kind, how] of Object.entries(KINDS)) {
      await covers.show(await overTheText(stage, main, MAIN), how);
      await refuses(stage, list, shop, `${kind}, on the list`);
      await covers.hide();
      await until('a question in the list that can be allowed again', async () => (await inList()).armed_in === 0);
    }
    await presses(stage, main, MAIN, salt);
    assert.equal(await salt, 'ordered salt');
    assert.deepEqual(shop.orders, ['tea', 'milk', 'milk', 'milk', 'salt']);
  }));
}

// holds: desktop-cover-counts
test('what hides nothing of a question does not keep it from being allowed', options, onStage({ windows: 'xfwm4' }, async (stage) => {
  const covers = await Covers.open(stage);
  const { app, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const window = await app.question();
  const { x, y, width, height } = await stage.area(QUESTION);
  // Beside it; below its edge; what is never drawn; one with a hole where the question is.
  await covers.show({ x: x - 300, y, width: 200, height }, {}, 'beside');
  await covers.show({ x, y: 0, width: 3, height: 800 }, { unmanaged: true }, 'edge');
  await covers.show({ x, y, width, height: height / 2 }, { unmanaged: true, input_only: true }, 'sensor');
  await covers.show({ x: 0, y: 0, width: 1280, height: 800 }, { unmanaged: true, hole: [x, y, width, height] }, 'frame');
  await armed(window);
  await stage.picture('question-beside');
  await presses(stage, window, QUESTION, tea);
  assert.equal(await tea, 'ordered tea');
}));

// holds: desktop-cover-told
test('a window inside of a question that comes and goes keeps it from being allowed', options, onStage({ windows: 'openbox' }, async (stage) => {
  const covers = await Covers.open(stage);
  const { app, shop, buyer } = await connected(stage);
  const tea = buyer.order('tea');
  const window = await app.question();
  await armed(window);
  const number = Number((await stage.run('xdotool', ['search', '--onlyvisible', '--name', QUESTION])).trim().split('\n').at(-1));
  const { width, height } = await overTheText(stage, window, QUESTION);
  await covers.blink({ x: 0, y: 0, width, height }, number, BLINK);
  await until('a question that is not armed', async () => (await look(window)).armed_in !== 0);
  for (const end = Date.now() + 3 * LONG; Date.now() < end; await delay(20)) {
    assert.notEqual((await look(window)).armed_in, 0, 'armed between two times that it was covered');
  }
  assert.deepEqual(shop.orders, []);
  await covers.hide();
  await armed(window);
  await presses(stage, window, QUESTION, tea);
  assert.equal(await tea, 'ordered tea');
}));

/** Allows it once. What moves the button at the last moment makes it wait anew, which it shows. */
async function presses(stage, window, title, order) {
  let answered = false;
  order.finally(() => (answered = true)).catch(() => undefined);
  await until('an answer', async () => {
    if (!answered && (await window.isReady('button', ONCE))) {
      await stage.clickAt(await onDisplay(stage, window, 'button', ONCE, title));
      await until('what comes of it', () => answered, 2_000).catch(() => undefined);
    }
    return answered;
  });
}

/** The small window of a question, as the checks want it. */
function small(window) {
  return { window, title: QUESTION, looks: () => look(window) };
}

/** It is not armed, however long one waits, and the click sends nothing and says why. */
async function refuses(stage, { window, title, looks }, shop, what) {
  const orders = [...shop.orders];
  await until(`${what}: a clock that stands`, async () => (await looks()).armed_in === null);
  await delay(LONG);
  assert.equal((await looks()).armed_in, null, what);
  await until(`${what}: a button that says so`, async () => !(await window.isReady('button', ONCE)));
  const refused = await hears(window, TOO_EARLY);
  await stage.clickAt(await onDisplay(stage, window, 'button', ONCE, title));
  // Where a click raises a window, ours is above the other one now, and what it says stays until it is armed.
  await until(`${what}: that the click came too early`, refused);
  assert.deepEqual(shop.orders, orders, what);
}

/** Whether the window says one of these at some moment from now on. */
async function hears(window, words) {
  await window.run((words) => {
    window.heard = false;
    const hear = () => (window.heard ||= words.some((said) => document.body.innerText.includes(said)));
    new MutationObserver(hear).observe(document.body, { subtree: true, childList: true, characterData: true });
  }, words);
  return () => window.run(() => window.heard);
}

/** All of what is to be read, and none of the buttons. */
async function overTheText(stage, window, title) {
  const { x, y, width, height } = await stage.area(title);
  const part = await window.run(() => document.querySelector('article footer').getBoundingClientRect().top / innerHeight);
  return { x, y, width, height: Math.floor(part * height) - 8 };
}
