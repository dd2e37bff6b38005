import { it } from 'node:test';
import assert from 'node:assert/strict';
import { GitError } from '../git_error.ts';
import { makeSlots } from './slots.ts';

const isTaken = async (work: Promise<unknown>): Promise<boolean> =>
  await Promise.race([
    work.then(() => true),
    new Promise<boolean>((done) => setImmediate(() => done(false))),
  ]);

it('limits the number of holders and serves waiting callers in order of arrival', async () => {
  const slots = makeSlots(2);
  const first = await slots.take();
  await slots.take();
  const third = slots.take();
  const fourth = slots.take();
  assert.equal(await isTaken(third), false);
  first();
  first(); // releasing twice frees one slot
  assert.equal(await isTaken(third), true);
  assert.equal(await isTaken(fourth), false);
});

it('counts the slots that are used, and the callers that wait', async () => {
  const slots = makeSlots(2);
  assert.deepEqual(slots.count(), { total: 2, used: 0, waiting: 0 });
  const releases = [await slots.take(), await slots.take()];
  const third = slots.take();
  assert.deepEqual(slots.count(), { total: 2, used: 2, waiting: 1 });
  for (const release of releases) release();
  await third;
  assert.deepEqual(slots.count(), { total: 2, used: 1, waiting: 0 });
});

it('refuses callers when the queue is full', async () => {
  const slots = makeSlots(1, { waiting: 1, seconds: 60 });
  await slots.take();
  const control = new AbortController();
  const waiting = slots.take(control.signal);
  await assert.rejects(slots.take(), { kind: 'unavailable' });
  control.abort(new GitError('limit', 'gone'));
  await assert.rejects(waiting, { message: 'gone' });
});

it('limits the waiting time', async () => {
  const slots = makeSlots(1, { waiting: 5, seconds: 0.01 });
  await slots.take();
  await assert.rejects(slots.take(), { kind: 'unavailable' });
});

it('does not lose a slot when a waiting caller aborts', async () => {
  const slots = makeSlots(1);
  const back = await slots.take();
  const control = new AbortController();
  const waiting = slots.take(control.signal);
  control.abort(new Error('gone'));
  await assert.rejects(waiting);
  back();
  assert.equal(await isTaken(slots.take()), true);
});

it('limits each holder to its share without blocking others behind it', async () => {
  const slots = makeSlots(6);
  const greedy = [{ holder: 'a', part: 1 / 3 }];
  const release = await slots.take(undefined, greedy);
  await slots.take(undefined, greedy);
  const third = slots.take(undefined, greedy);
  assert.equal(await isTaken(third), false);
  assert.equal(await isTaken(slots.take(undefined, [{ holder: 'b', part: 1 / 3 }])), true);
  release();
  assert.equal(await isTaken(third), true);
});

it('gives a free slot to the holder with the fewest, and limits the queue of each holder', async () => {
  const slots = makeSlots(2, { ofOneHolder: 1 });
  const [a, b] = [[{ holder: 'a', part: 1 }], [{ holder: 'b', part: 1 }]];
  const release = await slots.take(undefined, a);
  await slots.take(undefined, a);
  const [next, other] = [slots.take(undefined, a), slots.take(undefined, b)];
  await assert.rejects(slots.take(undefined, a), { kind: 'unavailable' });
  release();
  assert.equal(await isTaken(other), true);
  assert.equal(await isTaken(next), false);
});

it('limits each holder to its share of the queue', async () => {
  const slots = makeSlots(1, { waiting: 4 });
  const release = await slots.take();
  const reads = [{ holder: 'read', part: 1 / 2 }];
  const waiting = [slots.take(undefined, reads), slots.take(undefined, reads)];
  await assert.rejects(slots.take(undefined, reads), { kind: 'unavailable' });
  const other = slots.take();
  release();
  for (const one of [...waiting, other]) (await one)();
});
