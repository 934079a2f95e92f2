// The real app on real desktops, some at a time: `cargo xtask test desktop`, which builds and installs what this needs.
//
// Nothing here waits for time to pass, but where time is what is promised: each step waits for what it needs to see.

import { run } from 'node:test';
import { spec } from 'node:test/reporters';

// The longest first: it waits for a token to leave the clipboard.
const files = ['trays', 'covers', 'life', 'hands', 'questions', 'approvals', 'view', 'door', 'keys', 'apart', 'looks'];
const asked = process.argv.slice(2);

// Node has a WebSocket from 22 on, and before behind this.
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --experimental-websocket`;

const chosen = files.filter((name) => asked.length === 0 || asked.includes(name));
run({ files: chosen.map((name) => `${import.meta.dirname}/${name}.mjs`), concurrency: 3 })
  .on('test:fail', () => (process.exitCode = 1))
  .compose(new spec())
  .pipe(process.stdout);
