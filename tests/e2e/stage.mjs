// A desktop for one test: an X display with a window manager, a session bus, a keychain, a home. Nothing of it is shared
// with another test or with the person whose machine this is.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { App, MAIN } from './app.mjs';
import { freePort, Program, run } from './processes.mjs';
import { Tray } from './tray.mjs';
import { until } from './waiting.mjs';

/** Where pictures go, for a person to look at. Git ignores it. */
export const SCREENSHOTS = join(import.meta.dirname, '../../screenshots');

/** What the system's programs let a bus start. */
const SERVICES = '/usr/share/dbus-1/services';

/** No test is longer. */
export const options = { timeout: 240_000 };

/**
 * What a test finds around the app: a keychain, a place for its icon, the programs that the bus starts when asked, how large
 * the display is, and how many times as large as usual text is drawn.
 */
const usual = { keychain: true, tray: true, services: [], size: '1280x800', text: 1 };

/** A test on a desktop of its own. */
export function onStage(needs, play) {
  return async (t) => {
    const stage = new Stage({ ...usual, ...needs });
    t.after(() => stage.clear());
    await stage.set();
    try {
      await play(stage, t);
    } catch (fault) {
      await stage.report(t.name);
      throw fault;
    }
  };
}

export { test };

class Stage {
  env;
  home;
  #needs;
  #programs = [];
  #apps = [];
  #clean = [];

  constructor(needs) {
    this.#needs = needs;
  }

  async set() {
    this.home = mkdtempSync(join(tmpdir(), 'clientmcp-e2e-'));
    const folder = (name) => {
      mkdirSync(join(this.home, name), { mode: 0o700 });
      return join(this.home, name);
    };
    const env = {
      PATH: `${process.env.PATH}:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      HOME: folder('home'),
      TMPDIR: folder('tmp'),
      XDG_RUNTIME_DIR: folder('run'),
      XDG_CONFIG_HOME: folder('config'),
      XDG_DATA_HOME: folder('data'),
      XDG_STATE_HOME: folder('state'),
      XDG_CACHE_HOME: folder('cache'),
      XDG_CURRENT_DESKTOP: 'XFCE',
      GDK_BACKEND: 'x11',
      GDK_DPI_SCALE: `${this.#needs.text}`,
      NO_AT_BRIDGE: '1',
      RUST_BACKTRACE: '1',
      // The display has no graphics card.
      LIBGL_ALWAYS_SOFTWARE: '1',
    };
    this.env = env;
    await Promise.all([this.#display(), this.#bus()]);
    await Promise.all([
      this.#windows(),
      this.#needs.keychain && this.#keychain(),
      this.#needs.tray && this.openTray(),
    ]);
  }

  /** Starts a program that ends with the test. */
  start(name, path, words, more = {}) {
    const program = new Program(name, path, words, { env: this.env, ...more });
    this.#programs.push(program);
    return program;
  }

  run(path, words, input) {
    return run(path, words, { env: this.env, input });
  }

  /** Does this at the end, before anything else ends. */
  atEnd(what) {
    this.#clean.push(what);
  }

  /** Starts the app. All starts of one test share home and port. */
  async app(words = ['--window']) {
    this.port ??= await freePort();
    const app = await App.start(this, words);
    this.#apps.push(app);
    return app;
  }

  /** A place for tray icons. */
  async openTray() {
    this.tray = await Tray.open(this);
  }

  /** What the clipboard holds. */
  clipboard() {
    return this.run('xclip', ['-selection', 'clipboard', '-o']).catch(() => '');
  }

  /** A picture of the whole display. */
  async picture(name) {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.run('import', ['-window', 'root', join(SCREENSHOTS, `desktop-${name}.png`)]);
  }

  /** Windows that are shown, by a part of their title. */
  async shown(title) {
    const found = await this.run('xdotool', ['search', '--onlyvisible', '--name', title]).catch(() => '');
    return found.split('\n').filter(Boolean);
  }

  /** Closes the main window as its own button does. */
  async closeMain() {
    await this.run('wmctrl', ['-F', '-c', 'ClientMCP']);
    await until('the window to be closed', async () => (await this.shown(MAIN)).length === 0);
  }

  /** Where a window's content stands. */
  async place(window) {
    // xdotool counts the frame twice.
    const text = await this.run('xwininfo', ['-id', window]);
    const of = (name) => Number(new RegExp(`${name}: +(-?\\d+)$`, 'm').exec(text)[1]);
    return { x: of('Absolute upper-left X'), y: of('Absolute upper-left Y'), width: of('Width'), height: of('Height') };
  }

  /** What of the display the one window of this title has. */
  async area(title) {
    const [window] = await until(`a window ${title} on the display`, async () => {
      const found = await this.shown(title);
      return found.length > 0 && found;
    });
    return this.place(window);
  }

  /** The window that has the keyboard. */
  async focused() {
    return (await this.run('xdotool', ['getwindowfocus']).catch(() => '')).trim();
  }

  /** Clicks with the pointer of the display, wherever that is. */
  clickAt({ x, y }) {
    return this.run('xdotool', ['mousemove', `${Math.round(x)}`, `${Math.round(y)}`, 'click', '1']);
  }

  type(text) {
    return this.run('xdotool', ['type', '--delay', '20', text]);
  }

  press(...keys) {
    return this.run('xdotool', ['key', '--delay', '30', ...keys]);
  }

  /** For a failure: what the programs said, and what is on the display. */
  async report(name) {
    const failed = `failed-${name.replace(/\W+/g, '-').slice(0, 60)}`;
    await this.picture(failed).catch(() => undefined);
    for (const program of [...this.#apps, ...this.#programs]) {
      const lines = program.lines.slice(-60);
      if (lines.length) console.log(`-- ${program.name}\n${lines.join('\n')}`);
    }
    for (const app of this.#apps) console.log(`-- log of the app\n${app.log().split('\n').slice(-40).join('\n')}`);
  }

  async clear() {
    for (const what of this.#clean.reverse()) await Promise.resolve().then(what).catch(() => undefined);
    for (const app of this.#apps.reverse()) await app.end();
    for (const program of this.#programs.reverse()) await program.stop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 60 });
  }

  async #display() {
    const words = ['-displayfd', '3', '-screen', '0', `${this.#needs.size}x24`, '-nolisten', 'tcp', '-noreset'];
    const display = this.start('Xvfb', 'Xvfb', words, { pipe: true });
    this.env.DISPLAY = `:${(await display.line('its number', (line) => /^\d+$/.test(line))).trim()}`;
  }

  async #windows() {
    this.start('openbox', 'openbox', []);
    await until('a window manager', async () => (await this.run('wmctrl', ['-m'])).includes('Openbox'));
  }

  async #bus() {
    const socket = join(this.env.XDG_RUNTIME_DIR, 'bus');
    const config = join(this.home, 'bus.conf');
    // No others: the bus would start a second, locked keychain.
    const services = join(this.home, 'services');
    mkdirSync(services);
    for (const name of this.#needs.services) copyFileSync(join(SERVICES, name), join(services, name));
    writeFileSync(config, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <servicedir>${services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>`);
    const bus = this.start('dbus-daemon', 'dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address=1']);
    await bus.line('its address', (line) => line.startsWith('unix:'));
    this.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${socket}`;
  }

  /** A real one, unlocked: that it keeps something shows that it is. */
  async #keychain() {
    const words = ['--foreground', '--unlock', '--components=secrets'];
    const keyring = this.start('gnome-keyring', 'gnome-keyring-daemon', words, { input: 'pipe' });
    keyring.process.stdin.end('password of the tests');
    const keep = ['store', '--label=probe', 'probe', 'probe'];
    await until('an unlocked keychain', () => this.run('secret-tool', keep, 'probe').then(() => true));
  }

}
