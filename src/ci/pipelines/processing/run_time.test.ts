import assert from 'node:assert/strict';
import { it } from 'node:test';
import { computeRunTime } from './run_time.ts';

const ran = (started_at: number | null, finished_at: number | null) => ({ started_at, finished_at });

it('counts the seconds in which at least one job ran, without pauses', () => {
  const jobs = [ran(0, 10_000), ran(2_000, 4_000), ran(8_000, 12_000), ran(20_000, 21_000), ran(null, null)];
  assert.equal(computeRunTime(jobs, 99_000), 13);
});

it('counts a running job up to now', () => assert.equal(computeRunTime([ran(1_000, null)], 4_000), 3));

it('is null if no job started', () => assert.equal(computeRunTime([ran(null, 5_000)], 9_000), null));
