import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../errors.ts';
import { makeTurns } from './take_turns.ts';

test('one owner leaves a place to others, and work starts when a place becomes free', async () => {
  const turns = makeTurns(3);
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const started: string[] = [];
  const run = async (owner: string, gate: number): Promise<void> =>
    await turns(owner, async () => {
      started.push(`${owner}${gate}`);
      await gates[gate]?.promise;
    });
  const all = [run('a', 0), run('a', 1), run('a', 2), run('b', 3), run('b', 4)];
  await setImmediate();
  assert.deepEqual(started, ['a0', 'a1', 'b3']);
  gates[0]?.resolve();
  await setImmediate();
  assert.deepEqual(started.slice(3), ['a2'], 'both have one in progress: the first that waits');
  for (const { resolve } of gates) resolve();
  await Promise.all(all);
  assert.equal(started.length, 5);
});

test('too much waiting work of an owner is refused, others are not, and a failure frees its place', async () => {
  const turns = makeTurns(2);
  const gate = Promise.withResolvers<void>();
  const crowd = Array.from({ length: 17 }, async () => await turns('a', async () => await gate.promise));
  await assert.rejects(
    turns('a', async () => 'late'),
    (error) => error instanceof Failure && error.status === 503,
  );
  assert.equal(await turns('b', async () => 'served'), 'served');
  gate.reject(new Error('gone'));
  const ended = await Promise.allSettled(crowd);
  assert.ok(ended.every(({ status }) => status === 'rejected'));
  assert.equal(await turns('a', async () => 'served'), 'served');
});
