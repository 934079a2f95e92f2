// An agent that speaks MCP of the modern era over plain HTTP.

import assert from 'node:assert/strict';

import { LIMIT, within } from './waits.mjs';

const MODERN = '2026-07-28';

/** An agent of the modern era. */
export class Agent {
  #url;
  #token;

  constructor(url, token) {
    this.#url = url;
    this.#token = token;
  }

  /** The names of the tools. */
  async tools() {
    return (await this.#ask('tools/list', {})).tools.map((tool) => tool.name);
  }

  /** Calls a tool; aborting the signal gives the call up. A person may be asked, who takes their time. */
  call(name, args = {}, signal) {
    return this.#ask('tools/call', { name, arguments: args }, { 'Mcp-Name': name }, signal, 5 * LIMIT);
  }

  /** Calls, and returns what the answer says. */
  async text(name, args) {
    const { content, isError = false } = await this.call(name, args);
    return { text: content[0]?.text, isError };
  }

  /** Follows the changes of the list: `next()` resolves with each announcement. */
  async listen(t) {
    const stopped = new AbortController();
    t.after(() => stopped.abort());
    const params = { notifications: { toolsListChanged: true } };
    const listening = this.#post('subscriptions/listen', params, {}, stopped.signal);
    const response = await within(listening, 'the answer to subscriptions/listen');
    const events = readEvents(response.body);
    const next = async () => (await within(events.next(), 'the next announcement')).value.method;
    assert.equal(await next(), 'notifications/subscriptions/acknowledged');
    return { next };
  }

  #ask(method, params, headers, signal, limit) {
    const words = `the answer to ${method} ${JSON.stringify(params)}`;
    return within(this.#answered(method, params, headers, signal), words, limit);
  }

  async #answered(method, params, headers, signal) {
    const response = await this.#post(method, params, headers, signal);
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    const message = isStream ? (await readEvents(response.body).next()).value : await response.json();
    assert(message.result, JSON.stringify(message.error));
    return message.result;
  }

  #post(method, params, headers, signal) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    return fetch(this.#url, {
      method: 'POST',
      signal,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': MODERN,
        'Mcp-Method': method,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    });
  }
}

async function* readEvents(body) {
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
  }
}
