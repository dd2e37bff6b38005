import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../platform/errors.ts';
import type { Call } from './call.ts';
import { hasAnonymousSlot, takeDownloadSlot, withAnonymousSlot } from './anonymous_slots.ts';

type Caller = Parameters<typeof withAnonymousSlot>[0];

/** Callers of one service, by address; null: a member. Nothing else of a call matters here. */
const openVisits = () => {
  const platform = {};
  return (ip: string | null): Caller => {
    const call = { platform, signedIn: ip === null, ip: ip ?? '192.0.2.1' };
    return { call: call as unknown as Call };
  };
};

const isRefusal = (error: unknown): boolean => error instanceof Failure && error.status === 429;

/** Starts work that ends with the gate, and counts how much of it runs. */
const openGate = () => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let running = 0;
  return {
    open: resolve,
    fail: reject,
    count: () => running,
    work: async (): Promise<void> => {
      running += 1;
      await promise.finally(() => (running -= 1));
    },
  };
};

const repeat = <T>(times: number, make: () => T): T[] => Array.from({ length: times }, make);

test('anonymous visitors share three places, of which one address has two, and members need none', async () => {
  const visit = openVisits();
  const gate = openGate();
  const start = async (ip: string): Promise<void> => await withAnonymousSlot(visit(ip), gate.work);
  const visits = repeat(3, async () => await start('2001:db8:1:2::1'));
  visits.push(start('2001:db8:1:2:ffff::1'));
  await setImmediate();
  assert.equal(gate.count(), 2);
  assert.equal(hasAnonymousSlot(visit('2001:db8:1:2::9')), false);
  assert.equal(hasAnonymousSlot(visit('203.0.113.7')), true);
  visits.push(start('203.0.113.7'), start('203.0.113.8'));
  await setImmediate();
  assert.equal(gate.count(), 3);
  assert.equal(hasAnonymousSlot(visit('203.0.113.9')), false);
  assert.equal(hasAnonymousSlot(visit(null)), true);
  assert.equal(await withAnonymousSlot(visit(null), async () => 'done'), 'done');
  gate.open();
  await Promise.all(visits);
  assert.equal(gate.count(), 0);
});

test('an address that fills its part of the queue is refused, and others still wait and get their turn', async () => {
  const visit = openVisits();
  const [greedy, modest] = [visit('203.0.113.7'), visit('203.0.113.8')];
  const [first, second] = [openGate(), openGate()];
  const visits = repeat(22, async () => await withAnonymousSlot(greedy, first.work));
  await assert.rejects(withAnonymousSlot(greedy, first.work), isRefusal);
  assert.equal(await withAnonymousSlot(modest, async () => 'served'), 'served');
  const others = repeat(3, async () => await withAnonymousSlot(modest, second.work));
  await setImmediate();
  assert.deepEqual([first.count(), second.count()], [2, 1]);
  second.open();
  await Promise.all(others);
  first.open();
  await Promise.all(visits);
});

test('the queue is bounded for all addresses, and work that fails frees its place', async () => {
  const visit = openVisits();
  const gate = openGate();
  const visits = Array.from(
    { length: 43 },
    async (_one, at) => await withAnonymousSlot(visit(`203.0.113.${at}`), gate.work),
  );
  await assert.rejects(
    withAnonymousSlot(visit('203.0.113.99'), async () => 'late'),
    isRefusal,
  );
  gate.fail(new Error('gone'));
  const results = await Promise.allSettled(visits);
  assert.ok(results.every(({ status }) => status === 'rejected'));
  assert.equal(await withAnonymousSlot(visit('203.0.113.99'), async () => 'free'), 'free');
});

test('downloads take no places of pages, and one address only some of theirs', async () => {
  const visit = openVisits();
  const slow = visit('203.0.113.7');
  const releases = [await takeDownloadSlot(slow), await takeDownloadSlot(slow)];
  const waiting = takeDownloadSlot(slow);
  assert.equal(hasAnonymousSlot(slow), true);
  (await takeDownloadSlot(visit('203.0.113.8')))();
  (await takeDownloadSlot(visit(null)))();
  for (const release of releases) {
    release();
    release();
  }
  (await waiting)();
});
