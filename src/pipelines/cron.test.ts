import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronProblems, nextRun } from './cron.ts';

const problems = async (cron: string, cron_timezone = 'UTC') =>
  Object.keys(await cronProblems({ cron, cron_timezone }, Date.UTC(2026, 0, 1)));

test('patterns of five fields, and words for them, are taken', async () => {
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

test('what is none, or never comes, is refused', async () => {
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

test('time zones have their names of the tz database, or those of old forms', async () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Berlin', 'Pacific Time (US & Canada)', 'Asia/Kolkata']) {
    assert.deepEqual(await problems('0 0 * * *', zone), [], zone);
  }
  for (const zone of ['', 'Nowhere', '+02:00', '../etc']) {
    assert.deepEqual(await problems('0 0 * * *', zone), ['cron_timezone'], zone);
  }
});

test('the next run is the next one of the zone, in summer and in winter', async () => {
  const next = async (cron: string, cron_timezone: string, after: string): Promise<string> =>
    new Date((await nextRun({ cron, cron_timezone }, Date.parse(after))) ?? 0).toISOString();
  const eastern = 'Eastern Time (US & Canada)';
  assert.equal(await next('30 1 * * *', 'UTC', '2026-01-01T01:29:59Z'), '2026-01-01T01:30:00.000Z');
  assert.equal(await next('30 1 * * *', 'UTC', '2026-01-01T01:30:00Z'), '2026-01-02T01:30:00.000Z');
  assert.equal(await next('0 1 * * *', eastern, '2026-01-15T12:00:00Z'), '2026-01-16T06:00:00.000Z');
  assert.equal(await next('0 1 * * *', eastern, '2026-07-15T12:00:00Z'), '2026-07-16T05:00:00.000Z');
  // Either of day and weekday is enough.
  assert.equal(await next('0 0 13 * 5', 'UTC', '2026-01-01T12:00:00Z'), '2026-01-02T00:00:00.000Z');
});
