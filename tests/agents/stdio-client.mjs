// An agent on `@modelcontextprotocol/client` that starts a command. Its argument says how it agrees on a revision:
// `pinned` to the modern one, `auto`, or `legacy`.

import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { following, server, stdioSteps } from './stdio-steps.mjs';

const MODERN = '2026-07-28';
const MODES = { pinned: { pin: MODERN }, auto: 'auto', legacy: 'legacy' };

const mode = process.argv[2];
const { listChanged, changed } = following();
const client = new Client(
  { name: 'client', version: '1' },
  { versionNegotiation: { mode: MODES[mode] }, listChanged },
);
await client.connect(new StdioClientTransport(server()));
assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : MODERN);
await stdioSteps(client, (params, options) => client.callTool(params, options), changed);
