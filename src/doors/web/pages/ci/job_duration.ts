import type { JobRow } from '../../../../ci/jobs/rows.ts';

/** Seconds that a job has run so far, or did run; null: not started. */
export const secondsOf = ({ started_at, finished_at }: JobRow, now: number): number | null =>
  started_at === null ? null : Math.max(0, (finished_at ?? now) - started_at) / 1000;
