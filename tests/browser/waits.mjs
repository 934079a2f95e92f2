// How the tests wait: for what they name, and so long that no slow machine is too slow.

import { setTimeout as pause } from 'node:timers/promises';

/** No wait is longer. */
export const LIMIT = 60_000;

/** Of every test: a wait that nothing ends is over before, and says what it was for. */
export const options = { timeout: 5 * LIMIT };

/** Waits for the promise, which is of what the words say. */
export async function within(promise, words) {
  // Made here, so that it says who waits.
  const fault = new Error(`not within ${LIMIT / 1_000} s: ${words}`);
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(fault), LIMIT)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks again and again until nothing is wrong; what stays wrong is thrown. */
export async function eventually(check) {
  const end = Date.now() + LIMIT;
  for (;;) {
    try {
      return await check();
    } catch (fault) {
      if (Date.now() > end) throw fault;
    }
    await pause(50);
  }
}
