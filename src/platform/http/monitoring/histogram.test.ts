import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeDurations } from './histogram.ts';

test('counts durations in every matching bucket, by labels', () => {
  const durations = makeDurations('waits_seconds', 'How long', ['route', 'status']);
  durations.observe(['/a', '200'], 3);
  durations.observe(['/a', '200'], 0.2);
  durations.observe(['/a', '200'], 60_000);
  durations.observe(['/b', '404'], 1);
  const lines = durations.text().split('\n');
  assert.deepEqual(lines.slice(0, 2), ['# HELP waits_seconds How long', '# TYPE waits_seconds histogram']);
  const value = (start: string): number =>
    Number(
      lines
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1),
    );
  assert.equal(value('waits_seconds_bucket{le="0.0005",route="/a",status="200"}'), 1);
  assert.equal(value('waits_seconds_bucket{le="0.0025",route="/a",status="200"}'), 1);
  assert.equal(value('waits_seconds_bucket{le="0.005",route="/a",status="200"}'), 2);
  assert.equal(value('waits_seconds_bucket{le="10",route="/a",status="200"}'), 2);
  assert.equal(value('waits_seconds_bucket{le="+Inf",route="/a",status="200"}'), 3);
  assert.equal(value('waits_seconds_count{route="/a",status="200"}'), 3);
  assert.ok(Math.abs(value('waits_seconds_sum{route="/a",status="200"}') - 60.0032) < 1e-9);
  assert.equal(value('waits_seconds_bucket{le="0.001",route="/b",status="404"}'), 1);
});

test('escapes label values', () => {
  const durations = makeDurations('waits_seconds', 'How long', ['route']);
  durations.observe(['a"} 1\nb\\'], 1);
  assert.match(durations.text(), /^waits_seconds_count\{route="a\\"\} 1\\nb\\\\"\} 1$/m);
});
