// The real app on a stage: its process, its windows, its log.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Driver } from './driver.mjs';
import { Pane } from './pane.mjs';
import { freePort, Program } from './processes.mjs';
import { SCREENSHOTS } from './stage.mjs';
import { until, within } from './waiting.mjs';

/** The app's program. */
export const desktop = join(process.env.CLIENTMCP_BUILT, 'clientmcp-desktop');

/** The titles of the windows, on the display and of the pages in them. */
export const MAIN = '^ClientMCP$';
export const QUESTION = '^ClientMCP question$';
const MAIN_PAGE = /^ClientMCP$/;
const QUESTION_PAGE = /^Approval/;

export class App {
  name = 'clientmcp-desktop';
  stage;
  #program;
  #inspected;
  #driver;

  static async start(stage, words) {
    const app = new App();
    app.stage = stage;
    app.#inspected = await freePort();
    mkdirSync(SCREENSHOTS, { recursive: true });
    // With these a web view of this app lets itself be driven.
    const driven = { TAURI_AUTOMATION: 'true', TAURI_WEBVIEW_AUTOMATION: 'true' };
    const env = { ...stage.env, ...driven, WEBKIT_INSPECTOR_SERVER: `127.0.0.1:${app.#inspected}` };
    app.#program = new Program(app.name, desktop, ['--port', `${stage.port}`, ...words], { env });
    return app;
  }

  get pid() {
    return this.#program.pid;
  }

  get lines() {
    return this.#program.lines;
  }

  get exited() {
    return this.#program.exited;
  }

  get ended() {
    return this.#program.ended;
  }

  kill(signal) {
    process.kill(this.pid, signal);
  }

  /** The main window, which must be open or come. */
  async main() {
    return until('the main window', () => this.#pane(MAIN_PAGE));
  }

  /** The small window of a question, which must come. */
  async question() {
    return until('the window of a question', () => this.#pane(QUESTION_PAGE));
  }

  /** The small window of a question, if there is one now. */
  questionNow() {
    return this.#pane(QUESTION_PAGE);
  }

  /** Waits until no window of a question is there. */
  async noQuestion() {
    await until('the end of the window of a question', async () => (await this.stage.shown(QUESTION)).length === 0);
  }

  /** The main window, once agents and applications can reach the bridge. */
  async running() {
    const main = await this.main();
    await until('a running bridge', async () => (await main.view()).bridge.state === 'running');
    return main;
  }

  async #pane(title) {
    this.#driver ??= await Driver.open(this.stage, this.#inspected);
    for (const handle of await this.#driver.handles()) {
      const found = await this.#driver.to(handle).then(() => this.#driver.title(), () => '');
      if (title.test(found)) return new Pane(this.#driver, handle, SCREENSHOTS);
    }
    return undefined;
  }

  /** A fresh token, as the person copies it. */
  async token(role, application, label = null) {
    const main = await this.main();
    const before = await this.stage.clipboard();
    await main.done({ ask: 'copy_token', application, role, label, days: 1 });
    return until('a token in the clipboard', async () => {
      const now = await this.stage.clipboard();
      return now !== before && now;
    });
  }

  /** The bridge's process. */
  async bridge() {
    return until('the bridge', () => {
      return childrenOf(this.pid).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'clientmcp');
    });
  }

  /** All that it has written about itself. */
  log() {
    const files = filesIn(this.stage.home).filter((path) => path.endsWith('.log') || /\.log[.\d-]*$/.test(path));
    return files.map((path) => readFileSync(path, 'utf8')).join('\n');
  }

  /** Picks Quit, and waits until the process is gone. */
  async quit() {
    const main = await this.main();
    await main.ask({ ask: 'quit' }).catch(() => undefined);
    return this.gone();
  }

  /** How the process ended, which it must. */
  async gone() {
    const how = await within('the end of the app', this.exited);
    await this.#driver?.close();
    this.#driver = undefined;
    return how;
  }

  async end() {
    await this.#driver?.close();
    await this.#program.stop();
  }
}

/** They are listed by the thread that started them. */
function childrenOf(pid) {
  const listed = readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
  return listed.join(' ').split(' ').filter(Boolean).map(Number);
}

export function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

/** Fails when one of the texts stands in it. */
export function assertHoldsNone(where, text, secrets) {
  for (const secret of secrets) assert(!text.includes(secret), `${where} holds what nobody may read`);
}
