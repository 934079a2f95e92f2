// W3C WebDriver over plain HTTP, spoken to WebKitWebDriver, which reaches into the windows of an app that runs already.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';

import { freePort } from './processes.mjs';
import { LIMIT, until, within } from './waiting.mjs';

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

export class Driver {
  #url;
  #program;

  /** `inspected` is where the app lets itself be driven. */
  static async open(stage, inspected) {
    const driver = new Driver();
    const port = await freePort();
    driver.#program = stage.start('WebKitWebDriver', 'WebKitWebDriver', [`--port=${port}`, `--target=127.0.0.1:${inspected}`]);
    driver.#url = `http://127.0.0.1:${port}`;
    await until('the driver', async () => (await ask(`${driver.#url}/status`, 'GET')).ready);
    // It answers once the app has a window.
    const wanted = { capabilities: { alwaysMatch: { timeouts: { script: LIMIT, pageLoad: LIMIT } } } };
    const { sessionId } = await within('a window to drive', ask(`${driver.#url}/session`, 'POST', wanted));
    driver.#url += `/session/${sessionId}`;
    return driver;
  }

  async close() {
    await this.#program.stop();
  }

  handles() {
    return this.#get('window/handles');
  }

  async to(handle) {
    await this.#post('window', { handle });
  }

  title() {
    return this.#get('title');
  }

  /** Runs the function in the page, with these arguments. */
  run(script, ...args) {
    return this.#post('execute/sync', { script: `return (${script}).apply(null, arguments)`, args: args.map(packed) }).then(unpacked);
  }

  /** The same for one that returns a promise. */
  async wait(script, ...args) {
    const body = `const done = arguments[arguments.length - 1];
      Promise.resolve((${script})(...Array.from(arguments).slice(0, -1)))
        .then((value) => done({ value }), (fault) => done({ fault: String(fault) }));`;
    const { value, fault } = await this.#post('execute/async', { script: body, args });
    assert.equal(fault, undefined);
    return value;
  }

  /** A click as a person's, in the page's own coordinates. */
  click(element) {
    return this.#post(`element/${element.id}/click`, {});
  }

  clear(element) {
    return this.#post(`element/${element.id}/clear`, {});
  }

  type(element, text) {
    return this.#post(`element/${element.id}/value`, { text });
  }

  /** Presses keys one after another, wherever the page's focus is. */
  press(...keys) {
    const actions = keys.flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]);
    return this.#post('actions', { actions: [{ type: 'key', id: 'keys', actions }] });
  }

  async picture(path) {
    writeFileSync(path, Buffer.from(await this.#get('screenshot'), 'base64'));
  }

  resize(width, height) {
    return this.#post('window/rect', { width, height });
  }

  #get(path) {
    return ask(`${this.#url}/${path}`, 'GET');
  }

  #post(path, body) {
    return ask(`${this.#url}/${path}`, 'POST', body);
  }
}

const packed = (value) => (value?.id ? { [ELEMENT]: value.id } : value);

function unpacked(value) {
  const id = value?.[ELEMENT];
  return id ? { id } : value;
}

async function ask(url, method, body) {
  const response = await fetch(url, { method, body: body && JSON.stringify(body) });
  const { value } = await response.json();
  if (!response.ok) throw new Error(`WebDriver: ${value.error}: ${value.message}`);
  return value;
}
