// A host that knows nothing but a config file: it starts the command that stands there, and speaks MCP with it.

import { readFileSync } from 'node:fs';

import { LIMIT } from './waiting.mjs';

export class Host {
  #program;
  #id = 0;

  /** Starts the one server of the file, and agrees with it on a revision. */
  static async start(stage, file) {
    const [{ command, args }] = Object.values(JSON.parse(readFileSync(file, 'utf8')).mcpServers);
    const host = new Host();
    host.#program = stage.start('clientmcp stdio', command, args, { input: 'pipe' });
    const clientInfo = { name: 'host', version: '1' };
    await host.#ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    host.#say({ method: 'notifications/initialized' });
    return host;
  }

  async tools() {
    return (await this.#ask('tools/list', {})).tools.map(({ name }) => name);
  }

  /** The text of the answer. The person is asked before, who takes their time. */
  call(name, words) {
    const answer = this.#ask('tools/call', { name, arguments: words }, 5 * LIMIT).then(({ content }) => content[0].text);
    // A test that fails earlier leaves calls behind, whose end is no further fault.
    answer.catch(() => undefined);
    return answer;
  }

  async #ask(method, params, limit) {
    const id = (this.#id += 1);
    // What it says on stderr begins with no brace.
    const isAnswer = (line) => line.startsWith('{') && isAnswerTo(JSON.parse(line), id);
    this.#say({ id, method, params });
    const line = await this.#program.line(`the answer to ${method}`, isAnswer, limit);
    const { result, error } = JSON.parse(line);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  #say(message) {
    this.#program.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

function isAnswerTo(message, id) {
  return message.id === id && message.method === undefined;
}
