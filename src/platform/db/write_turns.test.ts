import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { makeWriteTurns } from './write_turns.ts';

test('works of one name run one after another, in the order in which they came', async () => {
  const inTurn = makeWriteTurns();
  const steps: string[] = [];
  const work = async (name: string): Promise<void> => {
    steps.push(`${name} begins`);
    await setImmediate();
    steps.push(`${name} ends`);
  };
  await Promise.all(['one', 'two', 'three'].map((name) => inTurn('row', async () => await work(name))));
  const expected = ['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`]);
  assert.deepEqual(steps, expected);
});

test('a work that fails lets the next one begin', async () => {
  const inTurn = makeWriteTurns();
  const failed = inTurn('row', async () => {
    await setImmediate();
    throw new Error('lost');
  });
  const next = inTurn('row', async () => await Promise.resolve('kept'));
  await assert.rejects(failed, /lost/);
  assert.equal(await next, 'kept');
});

test('works of other names do not wait', async () => {
  const inTurn = makeWriteTurns();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inTurn('row', async () => await promise);
  assert.equal(await inTurn('other', async () => await Promise.resolve('done')), 'done');
  resolve();
  await first;
});

test('a hanging transaction delays the next one for a limited time only', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const inTurn = makeWriteTurns();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inTurn('row', async () => await promise);
  let isDone = false;
  const second = inTurn('row', async () => {
    isDone = true;
    await Promise.resolve();
  });
  await setImmediate();
  assert.equal(isDone, false);
  t.mock.timers.tick(5_000);
  await second;
  resolve();
  await first;
});
