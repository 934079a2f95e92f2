// The tray as the bus shows it: the menu read and picked from, without a pointer.

import assert from 'node:assert/strict';
import { join } from 'node:path';

import { until } from './waiting.mjs';

export class Tray {
  #program;
  #asked = Promise.resolve();

  static async open(stage) {
    const tray = new Tray();
    const script = join(import.meta.dirname, 'tray.py');
    tray.#program = stage.start('tray', process.env.CLIENTMCP_PYTHON, [script], { input: 'pipe' });
    await tray.#program.line('that it watches', (line) => line.includes('watching'));
    return tray;
  }

  /** Waits for an icon. */
  async item() {
    await this.#program.line('an icon', (line) => line.includes('"item"'));
  }

  /** The name of the icon's picture. */
  async icon() {
    await this.item();
    return (await this.#ask({ menu: true })).icon;
  }

  /** All entries, with those of inner menus behind `text > `. */
  async entries() {
    await this.item();
    return flat((await this.#ask({ menu: true })).menu, '');
  }

  /** The entries' texts in order, as a person reads them. */
  async texts() {
    return (await this.entries()).map((entry) => entry.text);
  }

  /** The entry of this text, which must come. */
  entry(text) {
    return until(`the tray's entry ${text}`, async () => {
      const entries = await this.entries();
      return entries.find((entry) => (text instanceof RegExp ? text.test(entry.text) : entry.text === text));
    });
  }

  /** Picks it, once. A menu that was made anew between a look and a click has other numbers, and does nothing. */
  async pick(text) {
    const { fault } = await until(`the tray's entry ${text} to be there to pick`, async () => {
      const { enabled, id } = await this.entry(text);
      const picked = enabled && (await this.#ask({ click: id }).catch((fault) => ({ fault })));
      return !/does not refer to a menu item/.test(picked.fault?.message) && picked;
    });
    if (fault) throw fault;
  }

  /** One question at a time, so that answers are not mistaken. */
  #ask(question) {
    const asked = this.#asked.then(async () => {
      const from = this.#program.lines.length;
      this.#program.process.stdin.write(`${JSON.stringify(question)}\n`);
      const isAnswer = (line) => this.#program.lines.indexOf(line, from) >= 0 && !line.includes('"item"');
      const answer = JSON.parse(await this.#program.line('an answer', isAnswer));
      assert(!answer.fault, answer.fault);
      return answer;
    });
    this.#asked = asked.catch(() => undefined);
    return asked;
  }
}

function flat([id, properties, children], above) {
  const { label = '', enabled = true, 'toggle-state': checked } = properties;
  // One underscore marks the letter that a key picks.
  const text = above + label.replace(/_(.)/g, '$1');
  const inner = children.flatMap((child) => flat(child, id === 0 ? '' : `${text} > `));
  return id === 0 ? inner : [{ id, text, enabled, checked: checked === 1 }, ...inner];
}
