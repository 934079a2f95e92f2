// Waiting for what is to be seen, and for nothing else. Whoever waits in vain says what for.

import { setTimeout as delay } from 'node:timers/promises';

/** No single wait is longer: generous, since a slow machine is no fault. */
export const LIMIT = 120_000;

const PAUSE = 40;

/** Asks again until the answer is truthy, and returns it. What a question throws counts as not yet. */
export async function until(what, question, limit = LIMIT) {
  const end = Date.now() + limit;
  for (;;) {
    const last = await Promise.resolve()
      .then(question)
      .then((answer) => ({ answer }), (fault) => ({ fault }));
    if (last.answer) return last.answer;
    if (Date.now() > end) {
      const seen = last.fault ? `${last.fault.message ?? last.fault}` : JSON.stringify(last.answer);
      throw new Error(`waited ${limit / 1000} s in vain for ${what}; last: ${seen}`, { cause: last.fault });
    }
    await delay(PAUSE);
  }
}

/** The promise's value, which must come. */
export async function within(what, promise, limit = LIMIT) {
  const stop = new AbortController();
  const late = delay(limit, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`waited ${limit / 1000} s in vain for ${what}`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
    late.catch(() => undefined);
  }
}
