import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runTime } from './run_time.ts';

const ran = (started_at: number | null, finished_at: number | null) => ({ started_at, finished_at });

it('counts the seconds in which any job ran, once, without the pauses', () => {
  const jobs = [ran(0, 10_000), ran(2_000, 4_000), ran(8_000, 12_000), ran(20_000, 21_000), ran(null, null)];
  assert.equal(runTime(jobs, 99_000), 13);
});

it('counts one that still runs up to now', () => assert.equal(runTime([ran(1_000, null)], 4_000), 3));

it('is nothing where none began', () => assert.equal(runTime([ran(null, 5_000)], 9_000), null));
