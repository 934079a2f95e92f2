// What is seen of a question, on small displays and with large text: nothing is allowed that was out of view, and nothing
// for long of which not all was in view. With real clicks of the display.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { answer, answerAtDoor, answerByHand, answerInList, armed, look, onDisplay } from './answers.mjs';
import { MAIN, QUESTION } from './app.mjs';
import { Host } from './host.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { ALWAYS, DENY, LET_IN, MINUTES, MORE, ONCE, QUIT, SHOW_IT } from './words.mjs';
import { Buyer, connected } from './world.mjs';

const program = join(process.env.CLIENTMCP_BUILT, 'clientmcp');

/** What allows something, first of all that does. */
const ALLOWS = /^(Allow once|15 minutes)$/;

/** How long something is waited for that may be gone, in ms, before it is looked for whether it is needed. */
const SOON = 1_000;

/** As long as a label may be. */
const LONG = 'A host with a name that is as long as any name of a host may be!';

for (const size of ['1280x800', '800x600']) {
  for (const text of [1, 2]) {
    // holds: desktop-first-line
    test(`at ${size} with text of ${text * 100}% the first line of the arguments is in view, or nothing can be allowed`, options, onStage({ size, text }, async (stage) => {
      const { app, shop, buyer } = await connected(stage);
      const tea = buyer.order('tea');
      const window = await app.question();
      await window.says('tea');
      await armed(window);
      assert.deepEqual(await firstLine(window), { says: 'whattea', isInView: true });
      await window.picture(`question-${size}-text-${text}`);

      // Away from it nothing can be allowed, though a button is there to be clicked.
      await scroll(window, 100_000);
      if (!(await firstLine(window)).isInView) {
        await until('the clock to stand', async () => (await look(window)).armed_in === null);
        await press(stage, window, ONCE);
        await window.says('out of view');
        assert.deepEqual(shop.orders, []);
        await press(stage, window, SHOW_IT);
        await until('the first line', async () => (await firstLine(window)).isInView);
      }
      await answerByHand(stage, window, ONCE);
      assert.equal(await tea, 'ordered tea');
    }));
  }
}

// holds: desktop-first-line
test('the longest names leave the first line in view, as names fold first and the answers for later after them', options, onStage({ size: '800x600', text: 2 }, async (stage) => {
  const { app, shop } = await connected(stage);
  const buyer = new Buyer(stage, await app.token('agent', 'shop', LONG));
  const empty = buyer.orderWith({});
  const window = await app.question();
  await armed(window);
  assert.deepEqual(await firstLine(window), { says: '{}', isInView: true });
  await window.picture('question-long-names');
  assert.equal(await window.has('button', QUIT), false);
  await press(stage, window, MORE);
  await until('the answers for later', () => window.has('button', QUIT));
  await window.picture('question-more-answers');
  assert.equal((await firstLine(window)).isInView, true);
  await press(stage, window, /^Back$/);
  await until('the answers for now', () => window.has('button', ONCE));
  await window.drawn();
  await answerByHand(stage, window, ONCE);
  assert.match(await empty, /^ordered/);
  assert.equal(shop.orders.length, 1);
}));

// holds: ui-question-moved
test('with large text nothing that the clock says moves a button, so that an answer becomes possible and stays so', options, onStage({ size: '800x600', text: 2 }, async (stage) => {
  const { app, main, shop } = await connected(stage, { annotations: { destructiveHint: true } });
  const buyer = new Buyer(stage, await app.token('agent', 'shop', LONG));
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, `v${at}`]));
  const ordered = buyer.orderWith({ what: 'tea', ...many });
  const window = await app.question();
  await armed(window);
  await staysWhileItArms(window, () => window.askOf({ about: 'moved' }));
  await press(stage, window, MORE);
  await until('the answers for later', () => window.has('button', MINUTES));
  await staysWhileItArms(window, () => window.askOf({ about: 'moved' }));
  const [id] = await stage.shown(QUESTION);
  await stage.run('wmctrl', ['-i', '-c', id]);
  await window.gone();

  await toApprovals(stage, main);
  const [{ id: question }] = (await main.view()).snapshot.questions;
  await readyOnPage(stage, main, ONCE);
  await main.picture('approvals-large-text');
  await staysWhileItArms(main, () => main.ask({ ask: 'question', id: question, about: { about: 'moved' } }));
  await answerInList(main, ONCE, () => press(stage, main, ONCE, MAIN));
  assert.equal(await ordered, 'ordered tea');
  assert.equal(shop.orders.length, 1);
}));

// holds: ui-door-in-view
test('with large text all that is asked for at the door is shown on request', options, onStage({ size: '800x600', text: 2 }, async (stage) => {
  const { app, main } = await connected(stage);
  const host = 'Wide Host WWWWWWWW MMMMMMMM WWWWWWWW MMMMMMMM WWWWWWWW MMMMMMMMW';
  const application = 'wwwwwwww-mmmmmmmm-'.repeat(3);
  const config = join(stage.home, 'host.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: program, args: ['stdio', '--host', host, '--app', application] } } }));
  await toApprovals(stage, main);
  const asks = Host.start(stage, config).catch(() => undefined);
  await until('a question at the door', async () => (await main.view()).snapshot.door_questions[0]);
  await main.says('Not all that is asked for was in view.');
  await main.picture('approvals-door-large-text');
  await readyOnPage(stage, main, LET_IN);
  await answerAtDoor(main, DENY, () => press(stage, main, DENY, MAIN));
  await asks;
}));

// holds: desktop-all-seen
test('what is folded away is allowed for 15 minutes at most, until all of it was in view', options, onStage({}, async (stage) => {
  const { app, main, shop, buyer } = await connected(stage);
  let deep = { cmd: 'rm -rf ~' };
  for (let level = 0; level < 40; level += 1) deep = { in: deep };
  const ordered = buyer.orderWith({ what: 'tea', deep });
  const window = await app.question();
  await armed(window);
  await window.says(/Not shown: \d+ members, \d+ levels deeper/);
  await window.saysNot('rm -rf ~');
  for (const name of [QUIT, ALWAYS]) assert.equal(await window.has('button', name), false);
  const { fingerprint } = (await look(window)).question;
  for (const lasts of ['quit', 'always']) {
    for (const any_agent of [false, true]) {
      const refused = await window.askOf({ about: 'decide', fingerprint, verdict: 'allow', also: { tool: { any_agent, lasts } } });
      assert.equal(refused.refused?.code, 'not_for_always', JSON.stringify(refused));
    }
  }
  await window.click('button', /^Open all$/);
  await window.says('rm -rf ~');
  // Opened is not seen.
  await scroll(window, 0);
  assert.equal((await look(window)).all_seen, false);
  for (let at = 0; !(await look(window)).all_seen; at += 150) await scroll(window, at);
  await scroll(window, 0);
  await until('what stands longer', () => window.has('button', ALWAYS));
  await window.drawn();
  await armed(window);
  await window.picture('question-all-seen');
  await answerByHand(stage, window, ALWAYS);
  assert.equal(await ordered, 'ordered tea');
  await until('a rule that stays', async () => (await main.view()).snapshot.rules[0]?.until === 'always');
  assert.deepEqual(shop.orders, ['tea']);
}));

// holds: desktop-door-named
test('a host under a name that somebody else has is marked as what it is wherever it stands', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const NAME = '\u0421laude Desktop';
  const config = join(stage.home, 'host.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: program, args: ['stdio', '--host', NAME, '--app', 'shop'] } } }));
  await toApprovals(stage, main);
  const host = await Host.start(stage, config);
  await main.says(/letters of more than one alphabet: Cyrillic, Latin/);
  await main.says('unverified');
  await answerAtDoor(main, LET_IN);
  await until('its tools', async () => (await host.tools()).includes('order'));

  // Its calls: in the small window, and in the list.
  await main.open('Calls');
  const tea = host.call('order', { what: 'tea' });
  const window = await app.question();
  await window.says('came in without a token; nobody has checked this name');
  await window.says(/letters of more than one alphabet: Cyrillic, Latin/);
  await window.picture('question-door-name');
  await answer(window, DENY);
  assert.match(await tea, /declined|denied|said no/i);
  await main.says('no token');
  // One with a token has another mark.
  const milk = buyer.order('milk');
  const other = await app.question();
  await other.says('the label of a token you gave out');
  await answer(other, DENY);
  assert.equal(await milk, 'declined');

  // Who was let in stands with the application, and is forgotten there.
  await main.open('Applications');
  await main.click('button', /shop/);
  await main.says('Let in without a token');
  await main.says(NAME);
  await main.picture('applications-let-in');
  await main.click('button', /^Forget .*laude Desktop/);
  await main.click('button', /^Forget$/);
  await until('nobody let in', async () => (await main.view()).snapshot.pairs.length === 0);
}));

/** Presses a button with the pointer of the display: the driver's own clicks miss where the text is large. */
async function press(stage, window, name, title = QUESTION) {
  await stage.clickAt(await onDisplay(stage, window, 'button', name, title));
}

async function toApprovals(stage, main) {
  await stage.run('wmctrl', ['-F', '-a', 'ClientMCP']);
  await until('the list of questions', async () => {
    await press(stage, main, /^Approvals/, MAIN);
    return until('its headings', async () => /Nothing waits for you|Answer now|Rules/.test(await main.text()), 2_000);
  });
}

/** Has what is out of view shown, until this can be answered. */
function readyOnPage(stage, main, button) {
  return until('all that must be in view to be there', async () => {
    if (await main.isReady('button', button)) return true;
    // It may be in view meanwhile, and nothing is left to be shown.
    if (await main.has('button', SHOW_IT)) await stage.clickAt(await onDisplay(stage, main, 'button', SHOW_IT, MAIN, SOON));
    return false;
  });
}

/** Starts the clock anew, and looks in every frame until it has run where the answers are, and what is said above them. */
async function staysWhileItArms(pane, restart) {
  await until('a question that can be answered', () => pane.isReady('button', ALLOWS));
  await pane.run(() => {
    const seen = { places: new Set(), ready: [], says: new Set() };
    window.seenWhileItArms = seen;
    const look = () => {
      const answers = document.querySelector('.answers');
      const allow = [...answers.querySelectorAll('.main button, .longer button')].find((button) => /^(Allow once|15 minutes)$/.test(button.innerText.trim()));
      const { left, top, width, height } = answers.getBoundingClientRect();
      seen.places.add([left, top, width, height, allow.offsetLeft, allow.offsetTop].join(' '));
      seen.says.add(answers.querySelector('[role=status]').innerText.trim());
      const ready = allow.getAttribute('aria-disabled') !== 'true';
      if (seen.ready.at(-1) !== ready) seen.ready.push(ready);
      if (seen.ready.length < 3) requestAnimationFrame(look);
    };
    look();
  });
  // The page looks every second whether it counts.
  await until('the page to hear of it', async () => {
    await restart();
    return pane.run(() => window.seenWhileItArms.ready.length > 1);
  });
  const seen = await until('the clock to have run', () =>
    pane.run(() => {
      const { places, ready, says } = window.seenWhileItArms;
      return ready.length >= 3 && { places: [...places], says: [...says] };
    }));
  assert(seen.says.length > 1, `always said ${seen.says}`);
  assert.equal(seen.places.length, 1, `${seen.places.join('; ')} at ${seen.says.join(' / ')}`);
}

/** The first line of the arguments, as the small window shows it, and whether all of it can be seen there. */
function firstLine(window) {
  return window.run(() => {
    const lines = document.querySelectorAll('section.json .line');
    const line = lines[1] ?? lines[0];
    const [box, port] = [line.getBoundingClientRect(), line.closest('.content').getBoundingClientRect()];
    const found = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    const isInside = box.top >= port.top - 1 && box.bottom <= port.bottom + 1 && box.left >= 0 && box.right <= innerWidth;
    return { says: line.innerText.replace(/\s+/g, ''), isInView: isInside && box.height > 0 && line.contains(found) };
  });
}

/** Scrolls what stands in the window, and waits until that is drawn. */
async function scroll(window, to) {
  await window.run((at) => {
    document.querySelector('.content').scrollTop = at;
  }, to);
  await window.drawn();
}
