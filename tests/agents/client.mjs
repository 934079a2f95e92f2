// An agent on `@modelcontextprotocol/client`. Its argument says how it agrees on a revision: `pinned` to the modern one,
// `auto`, or `legacy`.

import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { bridge, following, steps, watching } from './steps.mjs';

const MODERN = '2026-07-28';
const MODES = { pinned: { pin: MODERN }, auto: 'auto', legacy: 'legacy' };

const mode = process.argv[2];
const { url, headers } = bridge();
const { listChanged, changed } = following();
const { fetch, stream } = watching();
const listening = stream('GET');
const client = new Client(
  { name: 'client', version: '1' },
  { versionNegotiation: { mode: MODES[mode] }, listChanged },
);
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch }));
assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : MODERN);
if (mode === 'legacy') await listening;
else assert.deepEqual(client.autoOpenedSubscription.honoredFilter, { toolsListChanged: true });
await steps(client, (params, options) => client.callTool(params, options), changed, stream);
