/** Waits for what a test cannot await otherwise. The limit only ends tests that would wait forever. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';

const maxWaitMilliseconds = 60_000;
const pollMilliseconds = 10;

/** Resolves to the first value that is not null. @param what is awaited, for the message of a failure */
export const untilFound = async <T>(what: string, find: () => Promise<T | null> | T | null): Promise<T> => {
  for (const end = Date.now() + maxWaitMilliseconds; ;) {
    const value = await find();
    if (value !== null) return value;
    assert.ok(Date.now() < end, `not yet: ${what}`);
    await wait(pollMilliseconds);
  }
};

/** Resolves once the condition holds. @param what is awaited, for the message of a failure */
export const until = async (what: string, condition: () => Promise<boolean> | boolean): Promise<void> => {
  await untilFound(what, async () => ((await condition()) ? true : null));
};
