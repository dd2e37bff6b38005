/** Background work: enqueued with its cause, run once, retried after a failure, and taken over from dead processes. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { pino } from 'pino';
import { openTestStore, type TestStore } from '../../../test/support/databases/store.ts';
import { until } from '../../../test/support/until.ts';
import { migrate } from '../db/migrate.ts';
import { openStore } from '../db/open.ts';
import { unavailable } from '../errors.ts';
import { GitFailure } from '../git/failure.ts';
import { processName } from '../db/process_name.ts';
import { type Payload, type WorkHandler, enqueue, enqueueAll } from './enqueue.ts';
import { makeOutageCheck } from './detect_outage.ts';
import { finish, releaseWork, lease, maxAttempts, postpone, renew, take } from './leases.ts';
import { type Worker, startWorker } from './worker.ts';

const start = Date.UTC(2026, 0, 1);

let test: TestStore;
let time: number;
let workers: Worker[];
let ran: Payload[];

const moveTo = (now: number): void => {
  time = now;
  test.setTime(now);
};

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
});
after(async () => await test.close());
beforeEach(async () => {
  [workers, ran] = [[], []];
  moveTo(start);
  await test.store.write(async ({ db }) => await db.deleteFrom('work').execute());
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
});

const noting = async (payload: Payload): Promise<void> => void ran.push(payload);

const work = (handler: WorkHandler = noting, store = test.store): Worker => {
  const worker = startWorker({
    store,
    clock: test.clock,
    log: pino({ level: 'silent' }),
    handlers: { note: handler },
  });
  workers.push(worker);
  return worker;
};

const add = async (
  payload: Payload = {},
  options: { unique_key?: string; run_at?: number } = {},
): Promise<void> => await test.store.write(async (tx) => await enqueue(tx, 'note', payload, options));

const rows = async () =>
  await test.store.db
    .selectFrom('work')
    .select(['run_at', 'attempts', 'locked_until', 'last_error', 'unique_key'])
    .orderBy('id')
    .execute();

/** A gate at which a handler waits, so that a test can inspect running work. */
const makeGate = () => {
  const [arrived, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pass = async (): Promise<void> => {
    arrived.resolve();
    await opened.promise;
  };
  return { pass, arrived: arrived.promise, open: () => opened.resolve() };
};

it('enqueues any number of pieces with few different statements', async () => {
  const prepare = DatabaseSync.prototype.prepare; // oxlint-disable-line typescript/unbound-method -- called with its database
  const prepared = mock.method(
    DatabaseSync.prototype,
    'prepare',
    function (this: DatabaseSync, text: string) {
      return prepare.call(this, text);
    },
  );
  const counts = [1, 20, 21, 64, 77, 100, 101, 230, 300];
  for (let count = 30; count < 60; count += 1) counts.push(count);
  for (const count of counts) {
    const pieces = Array.from({ length: count }, (_one, at) => ({
      payload: { at },
      options: { unique_key: `${count}-${at}` },
    }));
    await test.store.write(async (tx) => await enqueueAll(tx, 'many', pieces));
  }
  const texts = prepared.mock.calls.map(({ arguments: [text] }) => text);
  prepared.mock.restore();
  assert.ok(new Set(texts.filter((text) => text.startsWith('insert into "work"'))).size <= 10);
  const rows = await test.store.db.selectFrom('work').select('payload').orderBy('id').execute();
  const ats = counts.flatMap((count) => Array.from({ length: count }, (_one, at) => JSON.stringify({ at })));
  assert.deepEqual(
    rows.map(({ payload }) => payload),
    ats,
  );
});

describe('enqueue', () => {
  it('is rolled back with the transaction of its cause', async () => {
    const failed = test.store.write(async (tx) => {
      await enqueue(tx, 'note', {});
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    assert.deepEqual(await rows(), []);
    await work().drain();
    assert.deepEqual(ran, []);
  });

  it('work starts at its due time, not before', async () => {
    await add({ n: 1 }, { run_at: start + 10 });
    const worker = work();
    await worker.drain();
    assert.deepEqual(ran, []);
    moveTo(start + 10);
    await worker.drain();
    assert.deepEqual(ran, [{ n: 1 }]);
  });

  it('adds nothing while a row with the same key waits', async () => {
    await add({ n: 1 }, { unique_key: 'a' });
    await add({ n: 2 }, { unique_key: 'a' });
    await add({ n: 3 }, { unique_key: 'b' });
    await add({ n: 4 });
    await add({ n: 5 });
    await work().drain();
    assert.deepEqual(
      ran.map(({ n }) => n),
      [1, 3, 4, 5],
    );
  });

  it('moves a waiting row with the same key earlier, never later', async () => {
    await add({ n: 1 }, { unique_key: 'a', run_at: start + 5_000 });
    await add({ n: 1 }, { unique_key: 'a', run_at: start + 9_000 });
    assert.deepEqual(
      (await rows()).map((row) => row.run_at),
      [start + 5_000],
    );
    await add({ n: 1 }, { unique_key: 'a' });
    assert.deepEqual(
      (await rows()).map((row) => row.run_at),
      [start],
    );
  });

  it('schedules another run if a row with the same key is running', async () => {
    const gate = makeGate();
    await add({ n: 1 }, { unique_key: 'a' });
    const worker = work(async (payload) => {
      await gate.pass();
      await noting(payload);
    });
    await gate.arrived;
    await add({ n: 2 }, { unique_key: 'a' });
    gate.open();
    await worker.drain();
    assert.deepEqual(
      ran.map(({ n }) => n),
      [1, 2],
    );
  });
});

describe('a worker', () => {
  it('runs each piece once, oldest first, and deletes it', async () => {
    for (const n of [1, 2, 3]) await add({ n });
    const worker = work();
    await worker.drain();
    await worker.drain();
    assert.deepEqual(ran, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    assert.deepEqual(await rows(), []);
  });

  it('a worker passes the payload unchanged', async () => {
    const payload = { number: 1.5, text: 'ü"\\', yes: true, none: null };
    await add(payload);
    await work().drain();
    assert.deepEqual(ran, [payload]);
  });

  it('shares work with other workers: each piece runs once', async () => {
    const isPostgres = test.store.dialect.engine === 'postgres';
    const stores = isPostgres
      ? await Promise.all(
          Array.from({ length: 4 }, () => openStore({ ...test.options, connections: 3 }, test.clock)),
        )
      : Array.from({ length: 4 }, () => test.store);
    const numbers = Array.from({ length: 100 }, (_one, n) => n);
    await test.store.write(async (tx) => {
      for (const n of numbers) await enqueue(tx, 'note', { n });
    });
    const shares = stores.map(() => 0);
    const all = stores.map((store, index) =>
      work(async (payload) => {
        shares[index] = (shares[index] ?? 0) + 1;
        await noting(payload);
      }, store),
    );
    await Promise.all(all.map((worker) => worker.drain()));
    assert.deepEqual(
      ran.map(({ n }) => Number(n)).toSorted((a, b) => a - b),
      numbers,
    );
    assert.ok(shares.filter((share) => share > 0).length > 1, `shares ${shares.join(', ')}`);
    await Promise.all(all.map((worker) => worker.stop()));
    if (isPostgres) await Promise.all(stores.map((store) => store.close()));
  });

  it('is woken by a process that has no room for its work', async (context) => {
    if (test.store.dialect.engine === 'sqlite') return context.skip('one process has the database');
    const there = await openStore({ ...test.options, connections: 3 }, test.clock);
    await there.listenToProcesses();
    const log = pino({ level: 'silent' });
    const shared = { clock: test.clock, log, idlePause: 1_000_000, quietTime: 0 };
    const [gate, taken] = [makeGate(), Promise.withResolvers<Payload>()];
    const idle = startWorker({
      ...shared,
      store: there,
      handlers: { note: async (payload) => taken.resolve(payload) },
    });
    await idle.drain();
    workers.push(
      startWorker({ ...shared, store: test.store, handlers: { note: async () => await gate.pass() } }),
    );
    try {
      await add({ n: 1 });
      await gate.arrived;
      await add({ n: 2 });
      assert.deepEqual(await taken.promise, { n: 2 });
    } finally {
      gate.open();
      await idle.stop();
      await there.close();
    }
  });

  const counted = (idlePause: number) => {
    let looks = 0;
    const clock = {
      now: () => {
        looks += 1;
        return time;
      },
    };
    const log = pino({ level: 'silent' });
    workers.push(startWorker({ store: test.store, clock, log, handlers: { note: noting }, idlePause }));
    return () => looks;
  };

  it('polls once, then sleeps until a commit enqueues work', async () => {
    const looks = counted(1_000_000);
    await untilIdle(looks);
    assert.equal(looks(), 1);
    await test.store.write(async ({ db }) => await db.selectFrom('work').select('id').execute());
    await untilIdle(looks);
    assert.equal(looks(), 1);
    await add();
    await until('a look after the work has run', () => ran.length === 1 && looks() >= 3);
    await untilIdle(looks);
    assert.equal(looks(), 3);
  });

  it('polls periodically for work of other processes', async () => {
    const looks = counted(1);
    while (looks() < 3) await new Promise((resolve) => void setImmediate(resolve));
  });

  it('a worker continues after a failure of the store', async () => {
    const { store } = test;
    let failures = 1;
    const broken = {
      ...store,
      write: async <T>(run: Parameters<typeof store.write<T>>[0]): Promise<T> => {
        if (failures-- > 0) throw new Error('the store failed');
        return await store.write(run);
      },
    };
    const done = Promise.withResolvers<void>();
    await add();
    work(async () => done.resolve(), broken);
    await untilIdle(() => failures);
    await add();
    await done.promise;
  });

  it('stops after the running piece, and takes no other', async () => {
    const gate = makeGate();
    await add({ n: 1 });
    await add({ n: 2 });
    const worker = work(async (payload) => {
      await gate.pass();
      await noting(payload);
    });
    await gate.arrived;
    let stopped = false;
    const stopping = worker.stop().then(() => (stopped = true));
    await untilIdle(() => ran.length);
    assert.equal(stopped, false);
    gate.open();
    await stopping;
    assert.deepEqual(ran, [{ n: 1 }]);
    assert.equal((await rows()).length, 1);
  });

  it('an idle worker stops at once', async () => {
    const worker = work();
    await worker.drain();
    await untilIdle(() => ran.length);
    await worker.stop();
  });
});

/** Resolves when the value has stopped changing. */
const untilIdle = async (value: () => number): Promise<void> => {
  for (let quiet = 0, last = value(); quiet < 10; quiet += 1) {
    await new Promise((resolve) => void setTimeout(resolve, 5));
    if (value() !== last) [quiet, last] = [0, value()];
  }
};

describe('work that its handler finishes', () => {
  it('is done with the transaction of the handler', async () => {
    await add({ n: 1 });
    let left: unknown[] = [];
    const worker = work(async (payload, { finishIn }) => {
      await test.store.write(async (tx) => await finishIn(tx));
      left = await rows();
      await noting(payload);
    });
    await worker.drain();
    assert.deepEqual([ran, left], [[{ n: 1 }], []]);
  });

  it('is postponed if that transaction fails', async () => {
    await add({ n: 1 });
    const worker = work(async (_payload, { finishIn }) => {
      await test.store.write(async (tx) => {
        await finishIn(tx);
        throw new Error('not this time');
      });
    });
    await worker.drain();
    assert.deepEqual(
      (await rows()).map(({ last_error }) => last_error),
      ['Error: not this time'],
    );
  });
});

describe('work that fails', () => {
  const failing = (times: number): WorkHandler => {
    let left = times;
    return async (payload) => {
      await noting(payload);
      left -= 1;
      if (left >= 0) throw new Error('not this time');
    };
  };

  it('is retried after a pause that doubles', async () => {
    await add();
    const worker = work(failing(3));
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await worker.drain();
      const [row] = await rows();
      assert.equal(ran.length, attempt);
      assert.deepEqual(
        [row?.attempts, row?.last_error, row?.locked_until],
        [attempt, 'Error: not this time', null],
      );
      waits.push(row!.run_at - time);
      moveTo(row!.run_at - 1);
      await worker.drain();
      assert.equal(ran.length, attempt);
      moveTo(row!.run_at);
    }
    assert.deepEqual(waits, [2_000, 4_000, 8_000]);
    await worker.drain();
    assert.equal(ran.length, 4);
    assert.deepEqual(await rows(), []);
  });

  it('failed work does not delay other work', async () => {
    await add({ n: 1 });
    await add({ n: 2 });
    await work(failing(1)).drain();
    assert.deepEqual(
      ran.map(({ n }) => n),
      [1, 2],
    );
    assert.equal((await rows()).length, 1);
  });

  it('fails permanently after its attempts, and its row stays', async () => {
    await add();
    const worker = work(failing(1_000));
    for (let round = 0; round < maxAttempts + 5; round += 1) {
      await worker.drain();
      moveTo(time + 3_600_000);
    }
    assert.equal(ran.length, maxAttempts);
    const [row] = await rows();
    assert.deepEqual([row?.attempts, row?.last_error], [maxAttempts, 'Error: not this time']);
  });

  it('without a handler waits, such as work of a newer version', async () => {
    await test.store.write(async (tx) => await enqueue(tx, 'unknown', {}));
    await work().drain();
    assert.match((await rows())[0]?.last_error ?? '', /no handler for work "unknown"/);
  });

  it('keeps its key: the same work, enqueued again, runs once and at once', async () => {
    await add({ n: 1 }, { unique_key: 'a' });
    const worker = work(failing(1));
    await worker.drain();
    assert.equal((await rows())[0]?.unique_key, 'a');
    await add({ n: 1 }, { unique_key: 'a' });
    await worker.drain();
    assert.equal(ran.length, 2);
    assert.deepEqual(await rows(), []);
  });

  it('is not retried if the same work was enqueued while it ran', async () => {
    const gate = makeGate();
    await add({ n: 1 }, { unique_key: 'a' });
    let first = true;
    const worker = work(async (payload) => {
      await noting(payload);
      if (!first) return;
      first = false;
      await gate.pass();
      throw new Error('no');
    });
    await gate.arrived;
    await add({ n: 2 }, { unique_key: 'a' });
    gate.open();
    await worker.drain();
    assert.deepEqual(
      ran.map(({ n }) => n),
      [1, 2],
    );
    assert.deepEqual(await rows(), []);
  });
});

describe('work that fails by an outage', () => {
  const away = new GitFailure('unavailable', 'the storage is away');
  const workThrough = (handler: WorkHandler): Worker => {
    const { store, clock } = test;
    const log = pino({ level: 'silent' });
    const worker = startWorker({
      store,
      clock,
      log,
      handlers: { note: handler },
      isOutage: makeOutageCheck(store),
    });
    workers.push(worker);
    return worker;
  };

  it('is always retried, and runs within minutes of the end of the outage', async () => {
    await add();
    let isAway = true;
    const worker = workThrough(async (payload) => {
      if (isAway) throw new Error('refresh failed', { cause: away });
      await noting(payload);
    });
    for (let round = 0; round < maxAttempts * 3; round += 1) {
      await worker.drain();
      const [row] = await rows();
      assert.ok(row!.run_at - time <= 300_000, `a pause of ${row!.run_at - time} ms`);
      moveTo(row!.run_at);
    }
    isAway = false;
    await worker.drain();
    assert.equal(ran.length, 1);
    assert.deepEqual(await rows(), []);
  });

  it('fails after as many failures of its own as without outages', async () => {
    await add();
    let round = 0;
    const worker = workThrough(async () => {
      round += 1;
      throw round % 2 === 0 ? away : new Error('its own');
    });
    for (let tries = 0; tries < maxAttempts * 3; tries += 1) {
      await worker.drain();
      moveTo(time + 3_600_000);
    }
    assert.equal(round, maxAttempts * 2 - 1);
    assert.equal((await rows())[0]?.last_error, 'Error: its own');
  });

  it('covers a full disk and an unreachable peer, but not a bug', () => {
    const isOutage = makeOutageCheck(test.store);
    const coded = (code: string): Error => Object.assign(new Error('failed'), { code });
    for (const error of [away, unavailable()]) assert.equal(isOutage(error), true, String(error));
    for (const code of ['ENOSPC', 'EROFS', 'EIO', 'EMFILE', 'ECONNREFUSED'])
      assert.equal(isOutage(coded(code)), true, code);
    for (const error of [
      new TypeError('a bug'),
      new GitFailure('limit', 'too slow'),
      new GitFailure('too_large', 'too large'),
      coded('ENOENT'),
      'text',
    ])
      assert.equal(isOutage(error), false, String(error));
  });
});

describe('work whose process died', () => {
  it('is taken over when its lease has expired, not before', async () => {
    await add({ n: 1 });
    await take(test.store); // no further call renews or finishes it
    const worker = work();
    moveTo(start + lease);
    await worker.drain();
    assert.deepEqual(ran, []);
    moveTo(start + lease + 1);
    await worker.drain();
    assert.deepEqual(ran, [{ n: 1 }]);
    assert.deepEqual(await rows(), []);
  });

  const diedWith = async (holder: string): Promise<void> =>
    await test.store.write(async ({ db }) => {
      await db.updateTable('work').set({ locked_by: holder }).where('locked_until', 'is not', null).execute();
    });

  it('is released at once if the death is known, but not work of other processes', async () => {
    await add({ n: 1 });
    await add({ n: 2 });
    await take(test.store);
    await diedWith('dead');
    await take(test.store);
    await releaseWork(test.store, 'dead');
    await work().drain();
    assert.deepEqual(ran, [{ n: 1 }]);
    const holders = await test.store.db.selectFrom('work').select('locked_by').execute();
    assert.deepEqual(
      holders.map(({ locked_by }) => locked_by),
      [processName],
    );
  });

  it('again and again waits for its lease, because it may be the cause', async () => {
    await add();
    for (let deaths = 0; deaths < 4; deaths += 1) {
      assert.ok(await take(test.store), `after ${deaths}`);
      await diedWith('dead');
      await releaseWork(test.store, 'dead');
    }
    assert.equal(await take(test.store), null);
    moveTo(start + lease + 1);
    assert.ok(await take(test.store));
  });

  it('stays with a process that renews its lease', async () => {
    await add();
    const taken = await take(test.store);
    moveTo(start + lease);
    await renew(test.store, taken!);
    moveTo(start + lease + lease);
    assert.equal(await take(test.store), null);
  });

  it('cannot be changed by the previous holder', async () => {
    await add();
    const late = await take(test.store);
    moveTo(start + lease + 1);
    const now = (await take(test.store))!;
    assert.equal(now.attempts, 2);
    await postpone(test.store, late!, new Error('late'));
    await finish(test.store, late!);
    await renew(test.store, late!);
    assert.deepEqual(
      (await rows()).map(({ attempts, last_error, locked_until }) => [attempts, last_error, locked_until]),
      [[2, null, start + lease + 1 + lease]],
    );
    await finish(test.store, now);
    assert.deepEqual(await rows(), []);
  });

  it('at each attempt fails after its attempts', async () => {
    await add();
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      assert.ok(await take(test.store));
      moveTo(time + lease + 1);
    }
    const worker = work();
    await worker.drain();
    moveTo(time + 3_600_000_000);
    await worker.drain();
    assert.deepEqual(ran, []);
    assert.match((await rows())[0]?.last_error ?? '', /the process ended each time/);
  });
});
