// An agent on `@modelcontextprotocol/sdk` 1.x, which knows the legacy revisions alone.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { bridge, following, steps, watching } from './steps.mjs';

const { url, headers } = bridge();
const { listChanged, changed } = following();
const { fetch, stream } = watching();
const listening = stream('GET');
const client = new Client({ name: 'sdk', version: '1' }, { listChanged });
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch }));
await listening;
await steps(client, (params, options) => client.callTool(params, undefined, options), changed, stream);
