/** Decides which running jobs end although their runner does not say so. Pure. */
import { type ClockStep, maxClockDifference, minuteMilliseconds } from '../../../platform/time.ts';
import { lostOnce } from '../undelivered_jobs.ts';

const second = 1_000;

/** A working runner sends the first chunk of a trace within seconds. */
const firstChunkTimeout = minuteMilliseconds;
const maxSilenceMilliseconds = 5 * minuteMilliseconds;
const maxCancelMilliseconds = 6 * minuteMilliseconds;
/** Time after the job's timeout in which the runner may end the job itself. */
const timeoutGrace = minuteMilliseconds;

export type RunningJob = {
  status: string;
  started_at: number | null;
  seen_at: number | null;
  cancelled_at: number | null;
  timeout: number | null;
};

export type Fate = 'lost' | 'silent' | 'late' | 'canceled' | null;

/** What a process knows of its clock. */
export type ClockHistory = {
  /** When the service became reachable again, or its clock was last set: before, runners could not report. */
  since: number;
  /** Steps of the clock, oldest first, and the time that it would have shown when they were noticed. */
  steps: readonly (Pick<ClockStep, 'by'> & { before: number })[];
};

const maxSteps = 100;

/** Adds a step that is noticed now. */
export const addStep = ({ steps }: ClockHistory, { by }: ClockStep, now: number): ClockHistory => ({
  since: now,
  steps: [...steps, { by, before: now - by }].slice(-maxSteps),
});

/**
 * Returns the milliseconds that the clock was set ahead since a time, without those that it was set back later. If the
 * clock showed the time more than once, the first one counts.
 */
const getAdvance = (time: number, { steps }: ClockHistory): number => {
  const first = steps.findIndex(({ before }) => time <= before);
  return first === -1 ? 0 : steps.slice(first).reduce((sum, { by }) => Math.max(sum + by, 0), 0);
};

/**
 * Returns the milliseconds that have passed since a stored time. A time in the future, further than that of another
 * process can be, is from before the clock was set back, so at least the time since then has passed.
 */
export const getAge = (time: number, now: number, history: ClockHistory): number =>
  time > now + maxClockDifference ? now - history.since : now - time - getAdvance(time, history);

/** Decides what happens to a running job. */
export const decideFate = (job: RunningJob, now: number, history: ClockHistory): Fate => {
  const { status, started_at, seen_at, cancelled_at, timeout } = job;
  const age = (time: number): number => getAge(time, now, history);
  const silence = (time: number): number => Math.min(age(time), now - history.since);
  if (status === 'canceling') return age(cancelled_at ?? 0) > maxCancelMilliseconds ? 'canceled' : null;
  if (status !== 'running' || started_at === null) return null;
  if (timeout !== null && age(started_at) > timeout * second + timeoutGrace) return 'late';
  if (seen_at === null || seen_at === lostOnce)
    return silence(started_at) > firstChunkTimeout ? 'lost' : null;
  return silence(seen_at) > maxSilenceMilliseconds ? 'silent' : null;
};
