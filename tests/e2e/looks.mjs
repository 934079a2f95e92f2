// Pictures of every page, for a person to look at: each with something on it, light and dark.

import assert from 'node:assert/strict';

import { answer } from './answers.mjs';
import { MAIN } from './app.mjs';
import { onStage, options, test } from './stage.mjs';
import { until } from './waiting.mjs';
import { MINUTES, ONCE } from './words.mjs';
import { connected } from './world.mjs';

test('every page, light and dark', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage, {
    description: 'Orders something from the shop, to be delivered to the address that is on file',
  });
  const tea = buyer.order('tea');
  await answer(await app.question(), ONCE);
  assert.equal(await tea, 'ordered tea');
  const milk = buyer.order('milk');
  await answer(await app.question(), MINUTES);
  assert.equal(await milk, 'ordered milk');
  await app.noQuestion();
  for (const theme of ['light', 'dark']) {
    const { preferences } = await main.view();
    await main.done({ ask: 'set_preferences', preferences: { ...preferences, theme } });
    await until('the theme', async () => (await main.view()).preferences.theme === theme);
    for (const page of ['Applications', 'Calls', 'Approvals', 'Connect', 'Settings']) {
      await main.open(page);
      await main.says(page);
      if (page === 'Applications') await main.click('button', /shop/).catch(() => undefined);
      await main.picture(`${page.toLowerCase()}-${theme}`);
    }
  }
}));

// holds: desktop-theme
test('a dark window is dark from its first moment', options, onStage({}, async (stage) => {
  const { app, main, buyer } = await connected(stage);
  const { preferences } = await main.view();
  await main.done({ ask: 'set_preferences', preferences: { ...preferences, theme: 'dark' } });
  await until('the theme', async () => (await main.view()).preferences.theme === 'dark');
  // Out of the way, so that what is seen there is the desktop, which is black, or the question.
  await stage.run('wmctrl', ['-F', '-c', 'ClientMCP']);
  await until('no other window', async () => (await stage.shown(MAIN)).length === 0);
  const tea = buyer.order('tea');
  const seen = new Set();
  const question = await until('the window of a question', async () => {
    const found = await app.questionNow().catch(() => undefined);
    for (let look = 0; look < 10; look += 1) seen.add(await colourAt(stage, 1000, 400));
    return found;
  });
  await until('the question', async () => (await question.text()).includes('tea'));
  seen.add(await colourAt(stage, 1000, 400));
  assert.deepEqual([...seen].filter((colour) => !/^#([0-4].){3}$/.test(colour)), [], [...seen].join(' '));
  assert(seen.size > 1, 'the window was seen');
  await answer(question, ONCE);
  assert.equal(await tea, 'ordered tea');
}));

/** A point of the display, as `#RRGGBB`. */
async function colourAt(stage, x, y) {
  const said = await stage.run('import', ['-window', 'root', '-crop', `1x1+${x}+${y}`, '-depth', '8', 'txt:-']);
  return /#[0-9A-F]{6}/.exec(said)[0];
}
