// Windows that a test lays on others.

import { join } from 'node:path';

export class Covers {
  #program;
  #said = 0;

  static async open(stage) {
    const covers = new Covers();
    covers.#program = stage.start('covers', process.env.CLIENTMCP_PYTHON, [join(import.meta.dirname, 'cover.py')], { input: 'pipe' });
    await covers.#program.line('that it is ready', (line) => line === 'ready');
    return covers;
  }

  /** Whether a compositor draws the windows. */
  async composited() {
    return (await this.#ask({ composited: true })).composited;
  }

  /** Lays a window there, and waits until it is on the screen. */
  show({ x, y, width, height }, how, name = 'cover') {
    return this.#ask({ show: name, at: [x, y, width, height].map(Math.round), ...how });
  }

  /** Lays one inside of the window with this number, which comes and goes every so many milliseconds. */
  blink({ x, y, width, height }, inside, every, name = 'cover') {
    return this.#ask({ blink: name, at: [x, y, width, height].map(Math.round), inside, every });
  }

  /** Takes it away. */
  hide(name = 'cover') {
    return this.#ask({ hide: name });
  }

  /** One at a time. */
  async #ask(words) {
    const count = (this.#said += 1);
    this.#program.process.stdin.write(`${JSON.stringify(words)}\n`);
    const answers = () => this.#program.lines.filter((line) => line.startsWith('{'));
    await this.#program.line(`the answer to ${JSON.stringify(words)}`, () => answers().length >= count);
    return JSON.parse(answers()[count - 1]);
  }
}
