import type { Platform } from '../access/call.ts';

/** Each by itself: one that cannot be ended holds up no other. */
export const each = async <T>(
  platform: Platform,
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> => {
  for (const one of all) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await work(one);
    } catch (error) {
      platform.log.warn({ err: error }, 'a job was not swept');
    }
  }
};
