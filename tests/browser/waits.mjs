// How the tests wait: for what they name, and so long that no slow machine is too slow.

import { setTimeout as pause } from 'node:timers/promises';

/** No wait is longer: it ends what hangs, and decides no test that passes. */
export const LIMIT = 120_000;

/** Of every test: a wait that nothing ends is over before, and says what it was for. */
export const options = { timeout: 10 * LIMIT };

/** Waits for the promise, which is of what the words say; longer where people or whole programs come in between. */
export async function within(promise, words, limit = LIMIT) {
  // Made here, so that it says who waits.
  const fault = new Error(`waited ${limit / 1_000} s in vain for ${words}`);
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(fault), limit)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the page finds this true. It asks by the clock: a tab that nobody looks at draws no frames to count by. */
export function holds(page, words, script, arg) {
  return within(page.waitForFunction(script, arg, { polling: 50, timeout: 0 }), words);
}

/** Checks again and again until nothing is wrong; what stays wrong is thrown with the words that say what was waited for. */
export async function eventually(words, check) {
  const end = Date.now() + LIMIT;
  for (;;) {
    try {
      return await check();
    } catch (fault) {
      if (Date.now() > end) throw new Error(`waited ${LIMIT / 1_000} s in vain for ${words}; last: ${fault.message}`, { cause: fault });
    }
    await pause(50);
  }
}
