// An agent on `@modelcontextprotocol/sdk` 1.x that starts a command.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { following, server, stdioSteps } from './stdio-steps.mjs';

const { listChanged, changed } = following();
const client = new Client({ name: 'sdk', version: '1' }, { listChanged });
await client.connect(new StdioClientTransport(server()));
await stdioSteps(client, (params, options) => client.callTool(params, undefined, options), changed);
