import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../platform/errors.ts';
import type { Call } from './call.ts';
import { withAnonymousSlot } from './anonymous_slots.ts';

/** Callers of one service. Nothing else of a call matters here. */
const openVisits = () => {
  const platform = {};
  const visit = (signedIn: boolean) => ({ call: { platform, signedIn } }) as unknown as { call: Call };
  return { anonymous: visit(false), member: visit(true) };
};

test('anonymous visitors share two places, and members need none', async () => {
  const { anonymous, member } = openVisits();
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const work = async (): Promise<void> => {
    running += 1;
    await gate.promise;
    running -= 1;
  };
  const visits = [1, 2, 3].map(async () => await withAnonymousSlot(anonymous, work));
  await setImmediate();
  assert.equal(running, 2);
  assert.equal(await withAnonymousSlot(member, async () => 'done'), 'done');
  gate.resolve();
  await Promise.all(visits);
  assert.equal(running, 0);
});

test('refuses visitors when too many wait, and frees the place of work that fails', async () => {
  const { anonymous } = openVisits();
  const gate = Promise.withResolvers<void>();
  const visits = Array.from(
    { length: 22 },
    async () => await withAnonymousSlot(anonymous, async () => await gate.promise),
  );
  await assert.rejects(
    withAnonymousSlot(anonymous, async () => 'late'),
    (error) => error instanceof Failure && error.status === 429,
  );
  gate.reject(new Error('gone'));
  const results = await Promise.allSettled(visits);
  assert.ok(results.every(({ status }) => status === 'rejected'));
  assert.equal(await withAnonymousSlot(anonymous, async () => 'free'), 'free');
});
