// Programs that a test starts: each is ended with it, by its own id.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { LIMIT, until, within } from './waiting.mjs';

const execute = promisify(execFile);

/** A program under way. Its lines are kept, for who looks after a failure. */
export class Program {
  name;
  process;
  lines = [];
  #heard = new Set();

  constructor(name, path, words, { env, input = 'ignore', pipe } = {}) {
    this.name = name;
    this.process = spawn(path, words, { env, stdio: [input, 'pipe', 'pipe', ...(pipe ? ['pipe'] : [])] });
    this.exited = once(this.process, 'exit').then(([code, signal]) => code ?? signal);
    this.exited.catch(() => undefined);
    for (const stream of this.process.stdio.slice(1)) createInterface({ input: stream }).on('line', (line) => this.#hear(line));
  }

  get pid() {
    return this.process.pid;
  }

  get ended() {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** The first line that it says or has said of which this is true. */
  line(what, isIt, limit = LIMIT) {
    const said = this.lines.find(isIt);
    if (said !== undefined) return said;
    const heard = new Promise((resolve) => {
      const hear = (line) => isIt(line) && this.#heard.delete(hear) && resolve(line);
      this.#heard.add(hear);
    });
    const gone = this.exited.then((how) => {
      throw new Error(`${this.name} ended (${how}) before ${what}`);
    });
    gone.catch(() => undefined);
    return within(`${this.name}: ${what}`, Promise.race([heard, gone]), limit);
  }

  /** Ends it, and waits until it has. */
  async stop(signal = 'SIGTERM') {
    if (!this.ended && this.pid !== undefined) {
      this.process.kill(signal);
      await within(`the end of ${this.name}`, this.exited, 10_000).catch(() => this.process.kill('SIGKILL'));
    }
    return this.exited;
  }

  #hear(line) {
    this.lines.push(line);
    for (const hear of [...this.#heard]) hear(line);
  }
}

/** What a command prints; its end is waited for. */
export async function run(path, words, { env, input } = {}) {
  const running = execute(path, words, { env, maxBuffer: 64 << 20, timeout: LIMIT });
  running.child.stdin.end(input);
  return (await running).stdout;
}

/**
 * A port that nobody listens on now, and that the system gives to nobody by itself, so that it stays free for a while: most
 * of what starts beside a test is given one from 32768 on.
 */
export function freePort() {
  return until('a free port', async () => {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return port;
  });
}
