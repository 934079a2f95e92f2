// Who talks to the bridge in a test: an application on the JavaScript SDK, and an agent.

import { createRequire } from 'node:module';
import { join } from 'node:path';

import { Agent } from '../browser/agent.mjs';
import { within } from './waiting.mjs';

const sdk = join(import.meta.dirname, '../../sdk/js');
// The SDK brings the bundler, and is read from its source.
const { build } = createRequire(join(sdk, 'package.json'))('esbuild');
const { outputFiles } = await build({
  entryPoints: [join(sdk, 'src/index.ts')],
  write: false,
  bundle: true,
  format: 'esm',
  target: 'es2022',
});
const { connect } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);

const OUTCOME = 'io.github.clientmcp/outcome';

/** A shop with one tool, which notes every order that reaches it. */
export class Shop {
  orders = [];
  states = [];
  #application;

  static async open(stage, token, options = {}) {
    const shop = new Shop();
    shop.#application = connect({
      url: `ws://127.0.0.1:${stage.port}/connect`,
      token,
      tools: [shop.tool(options)],
      dev: false,
      onState: (state) => shop.states.push(state.status),
      ...options.connect,
    });
    stage.atEnd(() => shop.close());
    await shop.online();
    return shop;
  }

  /** The tool, with what is to be different about it. */
  tool({ description = 'Orders something', handler, ...more } = {}) {
    return {
      name: 'order',
      description,
      inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      annotations: { destructiveHint: false },
      handler: async (args, call) => {
        this.orders.push(args.what);
        return handler ? handler(args, call) : `ordered ${args.what}`;
      },
      ...more,
    };
  }

  setTool(options) {
    return this.#application.setTools([this.tool(options)]);
  }

  online() {
    return within('the application to be connected', this.#application.online());
  }

  get state() {
    return this.#application.state;
  }

  close() {
    this.#application.close();
  }
}

/** The app with its window open, the shop connected to it, and a buyer. */
export async function connected(stage, options) {
  const app = await stage.app();
  const main = await app.running();
  await patient(main);
  const tokens = { shop: await app.token('client', 'shop'), buyer: await app.token('agent', 'shop', 'buyer') };
  const shop = await Shop.open(stage, tokens.shop, options);
  return { app, main, shop, buyer: new Buyer(stage, tokens.buyer), tokens };
}

/** Lets people and applications take as long as can be: a slow machine is no fault. */
async function patient(main) {
  const { preferences } = await main.view();
  await main.done({ ask: 'set_preferences', preferences: { ...preferences, question_seconds: 600, call_seconds: 3600 } });
}

/** An agent, which calls the shop's tool. */
export class Buyer {
  #agent;

  constructor(stage, token) {
    this.#agent = new Agent(`http://127.0.0.1:${stage.port}/mcp`, token);
  }

  /** Orders with these arguments, whatever they are. */
  orderWith(words) {
    return this.#told(JSON.stringify(words).slice(0, 40), this.#agent.call('order', words));
  }

  /** Orders, and tells in short how that ended: the text of an answer, or the code of a refusal. */
  order(what, signal) {
    return this.#told(what, this.#agent.call('order', { what }, signal));
  }

  #told(what, called) {
    const told = called.then((result) => result._meta?.[OUTCOME]?.reason?.code ?? result.content[0].text);
    // A test that fails earlier leaves calls behind, whose end is no further fault.
    told.catch(() => undefined);
    return told;
  }

  tools() {
    return this.#agent.tools();
  }
}
