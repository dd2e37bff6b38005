import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { readProcessorTime, untilStuck } from './start_timeout.ts';

/** Returns after how many looks a process counts as stuck. */
const countLooks = async (progress: (look: number) => string | null): Promise<number> => {
  let looks = 0;
  const read = (): string | null => progress((looks += 1));
  await untilStuck(1, new AbortController().signal, { stuck: 15, most: 60 }, read);
  return looks;
};

test('a process that does nothing is stuck, also where its processor time is not known', async () => {
  assert.equal(await countLooks(() => 'the same'), 16);
  assert.equal(await countLooks(() => null), 16);
});

test('a process that works slowly has more time, but not for ever', async () => {
  assert.equal(await countLooks((look) => String(Math.min(look, 11))), 26);
  assert.equal(await countLooks(String), 61);
});

test('the processor time of a process is its progress', async () => {
  const before = readProcessorTime(process.pid);
  assert.match(before ?? '', /^\d+$/);
  await until('it has worked', () => readProcessorTime(process.pid) !== before);
  assert.equal(readProcessorTime(undefined), null);
});
