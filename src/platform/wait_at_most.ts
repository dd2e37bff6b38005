import { setTimeout as wait } from 'node:timers/promises';

/** Resolves as the work does, or to `fallback` after a time. Late work continues; its failure is ignored. */
export const waitAtMost = async <T, F>(
  work: Promise<T>,
  milliseconds: number,
  fallback: F,
): Promise<T | F> => {
  const timer = new AbortController();
  const late = wait(milliseconds, fallback, { signal: timer.signal, ref: false }).catch(() => fallback);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
};
