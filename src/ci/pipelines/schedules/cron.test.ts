import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCronProblems, computeNextRun } from './cron.ts';

const problems = async (cron: string, cron_timezone = 'UTC') =>
  Object.keys(await findCronProblems({ cron, cron_timezone }, Date.UTC(2026, 0, 1)));

test('accepts patterns of five fields and their shorthands', async () => {
  for (const cron of [
    '* * * * *',
    '*/15 0 1,15 * 1-5',
    '0 22 * JAN sun',
    '0 0 29 2 *',
    '@daily',
    ' 0 1 * * * ',
  ]) {
    assert.deepEqual(await problems(cron), [], cron);
  }
});

test('refuses invalid patterns and patterns that never match', async () => {
  const wrong = [
    '',
    'hourly',
    '61 * * * *',
    '* * * *',
    '* * * * * *',
    '0 0 30 2 *',
    '@reboot',
    '2030-01-01T00:00:00',
  ];
  for (const cron of wrong) assert.deepEqual(await problems(cron), ['cron'], cron);
  assert.deepEqual(await problems(`0 ${'0,'.repeat(200)}0 * * *`), ['cron']);
});

test('accepts names of the tz database and older zone names', async () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Berlin', 'Pacific Time (US & Canada)', 'Asia/Kolkata']) {
    assert.deepEqual(await problems('0 0 * * *', zone), [], zone);
  }
  for (const zone of ['', 'Nowhere', '+02:00', '../etc']) {
    assert.deepEqual(await problems('0 0 * * *', zone), ['cron_timezone'], zone);
  }
});

test('computes the next run in the time zone, in summer and winter', async () => {
  const next = async (cron: string, cron_timezone: string, after: string): Promise<string> =>
    new Date((await computeNextRun({ cron, cron_timezone }, Date.parse(after))) ?? 0).toISOString();
  const eastern = 'Eastern Time (US & Canada)';
  assert.equal(await next('30 1 * * *', 'UTC', '2026-01-01T01:29:59Z'), '2026-01-01T01:30:00.000Z');
  assert.equal(await next('30 1 * * *', 'UTC', '2026-01-01T01:30:00Z'), '2026-01-02T01:30:00.000Z');
  assert.equal(await next('0 1 * * *', eastern, '2026-01-15T12:00:00Z'), '2026-01-16T06:00:00.000Z');
  assert.equal(await next('0 1 * * *', eastern, '2026-07-15T12:00:00Z'), '2026-07-16T05:00:00.000Z');
  // A match of the day or of the weekday is enough.
  assert.equal(await next('0 0 13 * 5', 'UTC', '2026-01-01T12:00:00Z'), '2026-01-02T00:00:00.000Z');
});
