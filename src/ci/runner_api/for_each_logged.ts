import type { Platform } from '../../core/platform.ts';

/** Runs the work for each item in order. Logs an error and continues, so that one job does not delay others. */
export const forEachLogged = async <T>(
  platform: Platform,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      platform.log.warn({ err: error }, 'sweeping a job failed');
    }
  }
};
