// The JavaScript SDK in a page: its connection in good and bad times.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startBridge, startDriven } from './bridge.mjs';
import { openBare, openEnding, openFreezable } from './chromium.mjs';
import { eventually, holds, options, within } from './waits.mjs';

const MESSAGE_BYTES = 4_194_304;

// holds: js-browser
test('connects, and is called', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openBare(t);
  const connected = page.evaluate(
    ([url, token]) =>
      connect({
        url,
        token,
        tools: [
          tool({ name: 'greet', description: 'Greets', handler: ({ name }) => `Hello, ${name}` }),
          tool({ name: 'fail', description: 'Fails', handler: () => { throw new ToolError('not today'); } }),
        ],
      }).online(),
    [bridge.connect, bridge.token('client')],
  );
  await within(connected, 'the page is online');
  const agent = bridge.agent();
  assert.deepEqual(await agent.tools(), ['greet', 'fail']);
  assert.deepEqual(await agent.text('greet', { name: 'Grüße 😀' }), { text: 'Hello, Grüße 😀', isError: false });
  assert.deepEqual(await agent.text('fail'), { text: 'not today', isError: true });
});

// holds: js-browser
test('an agent that goes away aborts the signal of its call', options, async (t) => {
  const { page, agent } = await online(t, () => {
    const slow = (_, { signal }) =>
      new Promise((resolve) => {
        note('called');
        signal.addEventListener('abort', () => resolve(note('aborted')));
      });
    return [tool({ name: 'slow', description: 'Waits', handler: slow })];
  });
  const given = new AbortController();
  const call = agent.call('slow', {}, given.signal);
  await noted(page, 'called');
  given.abort();
  await assert.rejects(call, { name: 'AbortError' });
  await noted(page, 'called', 'aborted');
});

// holds: js-browser-tools
test('agents hear of other tools', options, async (t) => {
  const { page, agent } = await online(t, () => [tool({ name: 'one', description: 'First', handler: () => '1' })]);
  const changes = await agent.listen(t);
  await page.evaluate(() => application.setTools([tool({ name: 'two', description: 'Second', handler: () => '2' })]));
  assert.equal(await changes.next(), 'notifications/tools/list_changed');
  assert.deepEqual(await agent.tools(), ['two']);
  assert.deepEqual(await agent.text('two'), { text: '2', isError: false });
});

// holds: js-browser-tools
test('a page that declares its tools on every render registers once, and its newest handler runs', options, async (t) => {
  const { page, agent } = await online(t, () => [tool({ name: 'count', description: 'Counts', handler: () => '0' })]);
  const accepted = page.evaluate(async () => {
    for (let render = 1; render <= 100; render += 1) {
      application.setTools([tool({ name: 'count', description: 'Counts', handler: () => `${render}` })]);
    }
    await application.accepted();
  });
  await within(accepted, 'the last declaration is accepted');
  assert.deepEqual(await agent.text('count'), { text: '100', isError: false });
  const registers = await page.evaluate(() => sent.flat().filter((text) => text.startsWith('{"type":"register"')));
  assert.equal(registers.length, 1);
});

// holds: js-browser-size
test('a result of exactly the limit passes, and one byte more is a tool error', options, async (t) => {
  const { page, agent } = await online(t, () => {
    const handler = ({ length }) => 'x'.repeat(length);
    return [tool({ name: 'text', description: 'Gives a text', handler })];
  });
  await agent.text('text', { length: 0 });
  // All ids are of one length.
  const around = await page.evaluate(() => sent.flat().find((text) => text.startsWith('{"type":"result"')).length);
  const most = MESSAGE_BYTES - around;
  const whole = await agent.text('text', { length: most });
  assert.deepEqual([whole.text.length, whole.isError], [most, false]);
  const tooLong = await agent.text('text', { length: most + 1 });
  assert.match(tooLong.text, /too large: its message has 4194305 bytes and may have 4194304/);
  assert(tooLong.isError);
  assert.equal(await page.evaluate(() => sent.length), 1, 'the connection stands');
});

// holds: js-browser-returns
test('a bridge that starts again finds the page', options, async (t) => {
  const { bridge, page } = await online(t, greeter);
  await bridge.stop();
  await holds(page, 'the page to wait', () => application.state.status === 'waiting');
  await bridge.start();
  await isOnline(page);
  assert.deepEqual(await bridge.agent().text('greet'), { text: 'hello', isError: false });
});

// holds: js-browser-returns
test('back on a network, the page tries at once', options, async (t) => {
  const { bridge, page } = await online(t, greeter);
  // By itself it would try again in 1000 s, longer than anything is waited for here.
  await page.evaluate(() => (Math.random = () => 2_000));
  await page.context().setOffline(true);
  await bridge.stop();
  await holds(page, 'the page to wait', () => application.state.status === 'waiting');
  await bridge.start();
  await page.context().setOffline(false);
  await isOnline(page);
  assert.deepEqual(await bridge.agent().text('greet'), { text: 'hello', isError: false });
});

// holds: js-browser-frozen
test('a frozen tab answers once it is thawed', options, async (t) => {
  const tools = () => [tool({ name: 'wake', description: 'Answers', handler: () => void note('called') })];
  const { page, agent } = await online(t, tools, openFreezable);
  const { freeze, thaw } = await freezer(page);
  await freeze();
  const call = agent.text('wake');
  // The bridge takes it for connected.
  assert.deepEqual(await agent.tools(), ['wake']);
  await thaw();
  assert.equal((await call).isError, false);
  await noted(page, 'frozen', 'thawed', 'called');
});

// holds: js-browser-frozen
test('a frozen tab whose connection the browser ends is back once it is thawed', options, async (t) => {
  const { page, agent } = await online(t, greeter, openEnding);
  const { freeze, thaw } = await freezer(page);
  await freeze();
  const call = agent.text('greet');
  await thaw();
  const { text, isError } = await call;
  // A browser that keeps the connection has it answered; of one that ends it the bridge hears before the call or after.
  assert(isError ? /^The application disconnected|application is not connected/.test(text) : text === 'hello', text);
  await eventually('an answer of the page', async () => assert.deepEqual(await agent.text('greet'), { text: 'hello', isError: false }));
});

// holds: js-browser-frozen
test('a tab that was frozen while the bridge started again connects when it is thawed', options, async (t) => {
  const { bridge, page } = await online(t, greeter, openFreezable);
  const { freeze, thaw } = await freezer(page);
  await freeze();
  await bridge.stop();
  await bridge.start();
  await thaw();
  await holds(page, 'another connection of the page', () => sent.length > 1);
  await isOnline(page);
  assert.deepEqual(await bridge.agent().text('greet'), { text: 'hello', isError: false });
});

// holds: js-browser-replaced
test('a newer connection replaces the page, which comes back only when told to', options, async (t) => {
  const { bridge, page, agent } = await online(t, () => [tool({ name: 'who', description: 'Says who', handler: () => 'first' })]);
  const other = await page.context().newPage();
  await other.goto(page.url());
  const connected = other.evaluate(connectAsSecond, [bridge.connect, bridge.token('client')]);
  await within(connected, 'the second page is online');
  assert.equal((await end(page)).status, 'replaced');
  assert.deepEqual(await agent.text('who'), { text: 'second', isError: false });
  await page.evaluate(() => application.takeOver());
  await isOnline(page);
  assert.deepEqual(await agent.text('who'), { text: 'first', isError: false });
  assert.equal((await end(other)).status, 'replaced');
});

// holds: js-browser-token
test('a page whose token is revoked asks for another one, and ends without', options, async (t) => {
  const desktop = await startDriven(t);
  const mint = { application: 'notes', role: 'client', label: null, seconds: null };
  const { token } = (await desktop.order('mint', mint)).token;
  const page = await openBare(t);
  await page.evaluate(noting);
  const connected = page.evaluate(
    ([url, token]) => {
      const ask = ({ refused }) => {
        note(refused ? 'asked again' : 'asked');
        return refused ? undefined : token;
      };
      window.application = connect({ url, token: storedToken({ ask }) });
      return application.online();
    },
    [desktop.connect, token],
  );
  await within(connected, 'the page is online');
  await desktop.order('revoke', { application: 'notes', role: 'client', which: 'all' });
  const ended = await end(page);
  assert.deepEqual([ended.status, ended.refusal.code], ['refused', 'no-token']);
  await noted(page, 'asked', 'asked again');
  assert.equal(await page.evaluate(() => localStorage.getItem('clientmcp.token')), null);
});

// holds: js-browser-token
test('a token of another bridge is refused', options, async (t) => {
  const bridge = await startBridge(t);
  const page = await openBare(t);
  const ends = page.evaluate(
    ([url, token]) => connect({ url, token }).ended(),
    [bridge.connect, bridge.foreignToken()],
  );
  const ended = await within(ends, 'the application has ended');
  assert.deepEqual([ended.status, ended.refusal.code], ['refused', 'token']);
});

/** A page with these tools, online; `application` in the page is the SDK's. */
async function online(t, tools, open = openBare) {
  const bridge = await startBridge(t);
  const page = await open(t);
  await page.evaluate(noting);
  const script = `([url, token]) => {
    window.application = connect({ url, token, tools: (${tools})(), WebSocket: Recording });
    return application.online();
  }`;
  const connected = page.evaluate(`(${script})(${JSON.stringify([bridge.connect, bridge.token('client')])})`);
  await within(connected, 'the page is online');
  return { bridge, page, agent: bridge.agent() };
}

/** Waits until the page's application is online. */
function isOnline(page) {
  return within(page.evaluate(() => application.online()), 'the page is online');
}

/** The state in which the page's application ends. */
function end(page) {
  return within(page.evaluate(() => application.ended()), 'the application has ended');
}

function greeter() {
  return [tool({ name: 'greet', description: 'Greets', handler: () => 'hello' })];
}

function connectAsSecond([url, token]) {
  const tools = [tool({ name: 'who', description: 'Says who', handler: () => 'second' })];
  window.application = connect({ url, token, tools });
  return application.online();
}

/** `note` in the page keeps what happened there, in order. */
function noting() {
  window.notes = [];
  window.note = (what) => void notes.push(what);
}

/** Freezes the page, and thaws it again. */
async function freezer(page) {
  const devtools = await page.context().newCDPSession(page);
  await page.evaluate(() => {
    document.addEventListener('freeze', () => {
      note('frozen');
      console.log('frozen');
    });
    document.addEventListener('resume', () => note('thawed'));
  });
  const freeze = async () => {
    const frozen = page.waitForEvent('console', (message) => message.text() === 'frozen');
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    await within(frozen, 'the page to freeze');
  };
  return { freeze, thaw: () => devtools.send('Page.setWebLifecycleState', { state: 'active' }) };
}

/** Waits until these things have happened in the page; more, or another order, fails. */
async function noted(page, ...expected) {
  await holds(page, `${expected.length} things in the page`, (length) => notes.length >= length, expected.length);
  assert.deepEqual(await page.evaluate(() => notes), expected);
}
