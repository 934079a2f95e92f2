// One window of the app, as a person finds their way in it: by what is written there, not by how it is built.

import assert from 'node:assert/strict';
import { join } from 'node:path';

import { LIMIT, until } from './waiting.mjs';

const MATCH = {
  button: 'button, [role=button], summary',
  link: 'a[href]',
  tab: '[role=tab]',
  textbox: 'input:not([type=radio], [type=checkbox]), textarea, [role=textbox]',
  radio: 'input[type=radio], [role=radio]',
  checkbox: 'input[type=checkbox], [role=checkbox], [role=switch]',
  combobox: 'select, [role=combobox]',
  heading: 'h1, h2, h3, h4, [role=heading]',
};

export class Pane {
  #driver;
  #handle;
  #folder;

  constructor(driver, handle, folder) {
    this.#driver = driver;
    this.#handle = handle;
    this.#folder = folder;
  }

  async #here() {
    await this.#driver.to(this.#handle);
    return this.#driver;
  }

  async run(script, ...args) {
    return (await this.#here()).run(script, ...args);
  }

  async isGone() {
    return !(await this.#driver.handles()).includes(this.#handle);
  }

  /** Waits until the window is no more. */
  gone() {
    return until('the end of the window', () => this.isGone());
  }

  /** Waits until what is there now is drawn, and what comes of that is told. */
  async drawn() {
    const driver = await this.#here();
    await driver.wait(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(() => seen(true)))));
  }

  /** All that can be read in it. */
  text() {
    return this.run(() => document.body.innerText);
  }

  /** Waits until it says so. */
  says(words) {
    const right = (text) => (words instanceof RegExp ? words.test(text) : text.includes(words));
    return until(`the window to say ${words}`, async () => right(await this.text())).catch(async (fault) => {
      fault.message += `; it says: ${JSON.stringify((await this.text().catch(() => '')).slice(0, 2000))}`;
      throw fault;
    });
  }

  /** Waits until it does not. */
  saysNot(words) {
    return until(`the window not to say ${words}`, async () => !(await this.text()).includes(words));
  }

  /** Whether it is there now. */
  async has(role, name) {
    return Boolean(await this.#find(role, name));
  }

  /** Whether it is there and looks as if it could be pressed: a button that allows something says so to screen readers. */
  async isReady(role, name) {
    const element = await this.#find(role, name);
    return element !== null && this.run((one) => one.getAttribute('aria-disabled') !== 'true', element);
  }

  /** Waits for the dialog that says this, and presses its button. */
  async confirm(says, yes) {
    const said = await until('a dialog', () => {
      return this.run(() => [...document.querySelectorAll('dialog[open]')].pop()?.innerText ?? '');
    });
    // Names stand in isolates, so that none can turn the words around it.
    const plain = said.replace(/[\u2068\u2069]/g, '');
    for (const words of says) assert(plain.includes(words), `${JSON.stringify(words)} is not in ${JSON.stringify(plain)}`);
    await this.click('button', yes);
  }

  /** Clicks what has this name, in the section with this heading if one is named; the web view's own click, from a driver. */
  async click(role, name, section, limit = LIMIT) {
    let before;
    let clicked = false;
    await until(`a click at the ${role} ${name}`, async () => {
      // A click that closes the window may never be told.
      if (clicked && (await this.isGone())) return true;
      const element = await this.#find(role, name, section);
      if (!element) return false;
      // What is still moving would not be there any more when the click comes.
      const { x, y } = await this.run((one) => one.getBoundingClientRect().toJSON(), element);
      const place = `${x} ${y}`;
      if (place !== before) {
        before = place;
        return false;
      }
      clicked = true;
      await this.#driver.click(element);
      return true;
    }, limit).catch(async (fault) => {
      fault.message += `; it says: ${JSON.stringify((await this.text().catch(() => '')).slice(0, 2000))}`;
      throw fault;
    });
  }

  /** Clicks until that opened a dialog: a list that changes may move a button away under the click. */
  async clickForDialog(role, name, section) {
    const isOpen = () => this.run(() => document.querySelector('dialog[open]') !== null);
    await until(`a dialog behind the ${role} ${name}`, async () => {
      if (await isOpen()) return true;
      // The dialog may come first, and hide what opens it.
      await this.click(role, name, section, 5_000);
      return until('the dialog', isOpen, 2_000);
    });
  }

  /** Writes into a field, over what stood there. */
  async fill(name, text) {
    const field = await until(`the field ${name}`, () => this.#find('textbox', name));
    await this.#driver.clear(field);
    await this.#driver.type(field, text);
  }

  async press(...keys) {
    await (await this.#here()).press(...keys);
  }

  /** Where on the page the middle of it is; one that may go while it is looked for is waited for no longer than this. */
  async middle(role, name, limit = LIMIT) {
    const element = await until(`the ${role} ${name}`, () => this.#find(role, name), limit);
    return this.run((at) => {
      const { x, y, width, height } = at.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }, element);
  }

  /** What has the keyboard in it, by its name. */
  focus() {
    return this.run(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? '');
  }

  /** All that stands in the page, shown or not. */
  source() {
    return this.run(() => {
      const values = [...document.querySelectorAll('input, textarea, select')].map((field) => field.value);
      return [document.documentElement.outerHTML, document.title, location.href, ...values].join('\n');
    });
  }

  /** A picture of what it says now, which is on the screen from the second frame on. */
  async picture(name) {
    const driver = await this.#here();
    await this.drawn();
    await driver.picture(join(this.#folder, `desktop-${name}.png`));
  }

  /** Asks the app as the page does. */
  async ask(ask) {
    const driver = await this.#here();
    return driver.wait((words) => window.__TAURI_INTERNALS__.invoke('ask', { ask: words }), ask);
  }

  /** Asks about the question that this small window shows. */
  async askOf(about) {
    const driver = await this.#here();
    return driver.wait((words) => window.__TAURI_INTERNALS__.invoke('ask_of', { about: words }), about);
  }

  /** Calls any command, as a page could that was taken over; what came of it. */
  async invoke(command, words, options) {
    const driver = await this.#here();
    const call = (command, words, options) => {
      const called = window.__TAURI_INTERNALS__.invoke(command, words ?? undefined, options ?? undefined);
      return called.then((answered) => ({ answered }), (refused) => ({ refused: String(refused) }));
    };
    return driver.wait(call, command, words, options);
  }

  /** Goes to a page. */
  async open(page) {
    const name = new RegExp(`^${page}`);
    const role = await until(`the way to ${page}`, async () => {
      for (const role of ['tab', 'link', 'button']) if (await this.has(role, name)) return role;
      return undefined;
    });
    await this.click(role, name);
  }

  /** Asks, and expects that it is done. */
  async done(ask) {
    const answer = await this.ask(ask);
    assert(!answer.refused, JSON.stringify(answer.refused));
    return answer;
  }

  async view() {
    return (await this.done({ ask: 'view' })).view;
  }

  async #find(role, name, section = null) {
    const driver = await this.#here();
    return driver.run(findInPage, MATCH[role], name.source ?? name, name instanceof RegExp, section);
  }
}

/** Runs in the page. */
function findInPage(selector, name, isPattern, section) {
  const named = (element) => {
    const ids = element.getAttribute('aria-labelledby')?.split(/\s+/) ?? [];
    const labels = [...ids.map((id) => document.getElementById(id)), ...(element.labels ?? [])];
    const label = labels.map((node) => node?.textContent ?? '').join(' ').trim();
    return (element.getAttribute('aria-label') ?? (label || (element.textContent ?? ''))).trim().replace(/\s+/g, ' ');
  };
  const shown = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled;
  // An open dialog makes what is behind it inert.
  const open = [...document.querySelectorAll('dialog[open]')].filter((dialog) => dialog.matches(':modal')).pop();
  const headed = (element) => section === null || element.closest('section')?.querySelector('h2')?.textContent.trim() === section;
  const found = [...(open ?? document).querySelectorAll(selector)].filter((element) => {
    const own = named(element);
    return shown(element) && headed(element) && (isPattern ? new RegExp(name).test(own) : own === name);
  });
  return found[0] ?? null;
}
