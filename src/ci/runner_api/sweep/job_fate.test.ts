import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClockHistory, addStep, decideFate } from './job_fate.ts';

const minute = 60_000;
const hour = 60 * minute;
const noon = Date.UTC(2026, 0, 1, 12);

/** A clock that is set by these milliseconds at these times; a time is what the clock then shows. */
const setClock = (...steps: [at: number, by: number][]): ClockHistory =>
  steps.reduce<ClockHistory>((history, [now, by]) => addStep(history, { by, earliest: now }, now), {
    since: noon,
    steps: [],
  });

/** Returns the minute after `now` in which a job with a timeout of an hour is late, whose runner reports. */
const getLateMinute = (started_at: number, now: number, history: ClockHistory): number => {
  const job = { status: 'running', started_at, cancelled_at: null, timeout: 3600 };
  for (let minutes = 0; minutes < 1_000; minutes += 1) {
    const time = now + minutes * minute + 1;
    if (decideFate({ ...job, seen_at: time }, time, history) === 'late') return minutes;
  }
  return Infinity;
};

test('a job has its whole timeout, whichever way the clock was set while it ran', () => {
  const start = noon + 10 * minute;
  assert.equal(getLateMinute(start, start, setClock()), 61);
  const ahead: [number, number] = [start + 2 * hour, 2 * hour];
  assert.equal(getLateMinute(start, start + 2 * hour, setClock(ahead)), 61);
  assert.equal(getLateMinute(start, start + minute, setClock(ahead, [start + minute, -2 * hour])), 60);
  const later: [number, number] = [start + 3 * hour, hour];
  assert.equal(getLateMinute(start, start + 3 * hour, setClock(ahead, later)), 61);
  assert.equal(getLateMinute(start, start - 2 * hour, setClock([start - 2 * hour, -2 * hour])), 61);
});

test('a step before the start of a job changes nothing', () => {
  const history = setClock([noon + 3 * hour, 2 * hour]);
  assert.equal(getLateMinute(noon + 4 * hour, noon + 4 * hour, history), 61);
});

test('the clock of another process may be a little ahead', () => {
  const now = noon + 10 * hour;
  const job = { status: 'running', seen_at: null, cancelled_at: null, timeout: 3600 };
  assert.equal(decideFate({ ...job, started_at: now + 1_000 }, now, setClock()), null);
});
