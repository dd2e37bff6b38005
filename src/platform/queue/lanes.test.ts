/** Concurrent work: each lane runs a few pieces, each turn one, and no piece runs twice. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { migrate } from '../db/migrate.ts';
import { type Store, openStore } from '../db/open.ts';
import { processName } from '../db/process_name.ts';
import { type Lane, getKindsToTake } from './lanes.ts';
import { type Payload, enqueue } from './enqueue.ts';
import { finish, releaseWork, lease, postpone, take } from './leases.ts';
import { type Worker, startWorker } from './worker.ts';

const start = Date.UTC(2026, 0, 1);
const lanes: Lane[] = [
  { title: 'lane', names: ['slow'], maxPieces: 2 },
  { title: 'lane', names: null, maxPieces: 1 },
];

let test: TestStore;
let other: Store;
let workers: Worker[];
/** Work that began, in order, and how to end it. */
let begun: { name: string; end: () => void }[];
let ended: string[];
let onBegin: () => void;

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
  const isPostgres = test.store.dialect.engine === 'postgres';
  other = isPostgres ? await openStore(test.options, test.clock) : test.store;
});
after(async () => {
  if (other !== test.store) await other.close();
  await test.close();
});
beforeEach(async () => {
  [workers, begun, ended, onBegin] = [[], [], [], () => undefined];
  test.setTime(start);
  await test.store.write(async ({ db }) => await db.deleteFrom('work').execute());
});
afterEach(async () => {
  for (const piece of begun) piece.end();
  await Promise.all(workers.map((worker) => worker.stop()));
});

/** Handler that runs until the test ends it. */
const held = async ({ name }: Payload): Promise<void> => {
  const gate = Promise.withResolvers<void>();
  begun.push({ name: String(name), end: gate.resolve });
  onBegin();
  await gate.promise;
  ended.push(String(name));
};

const work = (store = test.store): Worker => {
  const log = pino({ level: 'silent' });
  const worker = startWorker({ store, clock: test.clock, log, lanes, handlers: { slow: held, quick: held } });
  workers.push(worker);
  return worker;
};

const add = async (kind: string, name: string, options: { turn?: string } = {}): Promise<void> =>
  await test.store.write(async (tx) => await enqueue(tx, kind, { name }, options));

const names = (): string[] => begun.map(({ name }) => name);

const untilBegun = async (...wanted: string[]): Promise<void> => {
  while (!wanted.every((name) => names().includes(name)))
    await new Promise<void>((resolve) => void (onBegin = resolve));
};

const end = (name: string): void => begun.find((piece) => piece.name === name)?.end();

const nameOf = (taken: { payload: string } | null): string | null =>
  taken === null ? null : (JSON.parse(taken.payload) as { name: string }).name;

describe('a long-running piece', () => {
  it('long work does not delay other lanes', async () => {
    await add('slow', 'long');
    await add('quick', 'first');
    await add('quick', 'second');
    work();
    await untilBegun('long', 'first');
    end('first');
    await untilBegun('second');
    assert.deepEqual(ended, ['first']);
  });

  it('leaves the remaining capacity of its lane to others', async () => {
    for (const name of ['a', 'b', 'c']) await add('slow', name);
    await add('quick', 'last');
    work();
    await untilBegun('a', 'b', 'last');
    assert.deepEqual(names(), ['a', 'b', 'last']);
    end('b');
    await untilBegun('c');
    assert.deepEqual(ended, ['b']);
  });

  it('is waited for by drain, with the work that it enqueues', async () => {
    await add('slow', 'long');
    const worker = work();
    await untilBegun('long');
    let drained = false;
    const draining = worker.drain().then(() => (drained = true));
    await add('quick', 'left');
    end('long');
    await untilBegun('left');
    assert.equal(drained, false);
    end('left');
    await draining;
    assert.deepEqual(ended, ['long', 'left']);
  });

  it('is waited for at shutdown in any lane, while nothing else starts', async () => {
    for (const name of ['a', 'b', 'c']) await add('slow', name);
    await add('quick', 'd');
    const worker = work();
    await untilBegun('a', 'b', 'd');
    let stopped = false;
    const stopping = worker.stop().then(() => (stopped = true));
    end('a');
    end('d');
    await new Promise((resolve) => void setTimeout(resolve, 20));
    assert.equal(stopped, false);
    end('b');
    await stopping;
    assert.deepEqual(
      [names(), ended.toSorted()],
      [
        ['a', 'b', 'd'],
        ['a', 'b', 'd'],
      ],
    );
    const left = await test.store.db.selectFrom('work').select(['payload', 'locked_until']).execute();
    assert.deepEqual(
      left.map(({ payload, locked_until }) => [payload, locked_until]),
      [['{"name":"c"}', null]],
    );
  });

  it('whose process died is retaken in its lane, while others continue', async () => {
    await add('slow', 'lost');
    assert.equal(nameOf(await take(test.store)), 'lost');
    await add('quick', 'other');
    const worker = work();
    await untilBegun('other');
    test.setTime(start + lease + 1);
    await add('slow', 'next');
    await untilBegun('lost', 'next');
    for (const name of names()) end(name);
    await worker.drain();
    assert.deepEqual(names().toSorted(), ['lost', 'next', 'other']);
    assert.deepEqual(await test.store.db.selectFrom('work').select('id').execute(), []);
  });
});

describe('pieces of the same turn', () => {
  it('run one after another, oldest first, without delaying other turns', async () => {
    await add('slow', 'a1', { turn: 'a' });
    await add('slow', 'a2', { turn: 'a' });
    await add('slow', 'b1', { turn: 'b' });
    work();
    await untilBegun('a1', 'b1');
    assert.deepEqual(names(), ['a1', 'b1']);
    end('b1');
    await add('slow', 'free');
    await untilBegun('free');
    assert.deepEqual(names(), ['a1', 'b1', 'free']);
    end('a1');
    await untilBegun('a2');
    assert.deepEqual(ended, ['b1', 'a1']);
  });

  it('are not taken by two processes at once', async () => {
    for (const round of [1, 2, 3, 4, 5]) {
      const turn = `turn ${round}`;
      await add('slow', 'first', { turn });
      await add('slow', 'second', { turn });
      const both = await Promise.all([take(test.store), take(other)]);
      const taken = both.filter((one) => one !== null);
      assert.deepEqual(taken.map(nameOf), ['first']);
      assert.equal(await take(other), null);
      await finish(test.store, taken[0]!);
      const next = await take(other);
      assert.equal(nameOf(next), 'second');
      await finish(other, next!);
    }
  });

  it('continue, oldest first, once the holder is known to have ended', async () => {
    await add('slow', 'first', { turn: 'a' });
    await add('slow', 'second', { turn: 'a' });
    await take(test.store);
    await releaseWork(test.store, processName);
    const first = await take(test.store);
    assert.equal(nameOf(first), 'first');
    assert.equal(await take(test.store), null);
    await finish(test.store, first!);
    assert.equal(nameOf(await take(test.store)), 'second');
  });

  it('skip a postponed piece, and wait for one whose process died', async () => {
    await add('slow', 'first', { turn: 'a' });
    await add('slow', 'second', { turn: 'a' });
    const first = await take(test.store);
    await postpone(test.store, first!, new Error('not this time'));
    assert.equal(nameOf(await take(test.store)), 'second');
    test.setTime(start + lease);
    assert.equal(await take(test.store), null);
    test.setTime(start + lease + 1);
    assert.equal(nameOf(await take(test.store)), 'second');
  });
});

it('takes only kinds whose lane has capacity', () => {
  const three: Lane[] = [
    { title: 'lane', names: ['slow', 'long'], maxPieces: 2 },
    { title: 'lane', names: ['odd'], maxPieces: 1 },
    { title: 'lane', names: null, maxPieces: 1 },
  ];
  assert.deepEqual(getKindsToTake(three, []), { except: [] });
  assert.deepEqual(getKindsToTake(three, ['slow']), { except: [] });
  assert.deepEqual(getKindsToTake(three, ['slow', 'long', 'odd']), { except: ['slow', 'long', 'odd'] });
  assert.deepEqual(getKindsToTake(three, ['anything']), { only: ['slow', 'long', 'odd'] });
  assert.deepEqual(getKindsToTake(three, ['anything', 'odd']), { only: ['slow', 'long'] });
  assert.equal(getKindsToTake(three, ['anything', 'odd', 'slow', 'slow']), null);
});
