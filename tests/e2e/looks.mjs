// Pictures of every page, for a person to look at: each with something on it, light and dark.

import assert from 'node:assert/strict';

import { answer } from './answers.mjs';
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
