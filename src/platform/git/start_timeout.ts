/** Gives up on a process that does not start, and not on one that starts slowly because the machine is busy. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds. `stuck`: without progress. `most`: in all. */
export type StartLimits = { stuck: number; most: number };

const usualLimits: StartLimits = { stuck: 15_000, most: 120_000 };

/** Times in which progress is looked for, while the process would count as stuck. */
const looks = 15;

/** Returns the processor time of a process, as text; null: not known, such as on a system other than Linux. */
export const readProcessorTime = (pid: number | undefined): string | null => {
  try {
    return readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0] ?? null;
  } catch {
    return null;
  }
};

/**
 * Resolves when a process has used no processor time for a while, or takes too long, unless the signal is aborted.
 * @param readProgress returns the same value as before if the process did nothing
 */
export const untilStuck = async (
  pid: number | undefined,
  signal: AbortSignal,
  limits: StartLimits = usualLimits,
  readProgress: (pid: number | undefined) => string | null = readProcessorTime,
): Promise<void> => {
  let last = readProgress(pid);
  for (let [still, total] = [0, 0]; still < limits.stuck && total < limits.most;) {
    const step = limits.stuck / looks;
    await wait(step, undefined, { signal });
    const now = readProgress(pid);
    still = now === null || now === last ? still + step : 0;
    total += step;
    last = now;
  }
};
