/** Calls of a remote storage that is away: how many wait, and which are refused at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeRestartWait, withoutRestartWait } from './await_restart.ts';
import { storageUnavailable } from './failure.ts';

/** A storage that is away until `isAway` is false, and counts attempts to connect. */
const makeStorage = (limits = { lost: 60_000, announced: 60_000 }) => {
  const storage = { isAway: false, attempts: 0 };
  const open = async (): Promise<string> => {
    storage.attempts += 1;
    if (storage.isAway) throw storageUnavailable('away');
    return 'connected';
  };
  const restart = makeRestartWait(open, limits);
  const connect = async (options: { signal?: AbortSignal; seconds?: number } = {}): Promise<string> =>
    await restart.connect(open, options);
  return { storage, restart, connect };
};

const unavailable = { name: 'GitFailure', kind: 'unavailable' };

describe('a storage that answered before', () => {
  it('is waited for, and all calls go on when it is back', async () => {
    const { storage, connect } = makeStorage();
    await connect();
    storage.isAway = true;
    const waiting = Array.from({ length: 10 }, async () => await connect());
    await assert.rejects(connect({ seconds: 0.01 }), unavailable);
    storage.isAway = false;
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['connected']));
  });

  it('lets only so many calls wait, and shares the attempts among them', async () => {
    const { storage, connect } = makeStorage();
    await connect();
    storage.isAway = true;
    await assert.rejects(connect({ seconds: 0.01 }), unavailable);
    storage.attempts = 0;
    const calls = Array.from({ length: 300 }, async () => await connect().catch(() => 'refused'));
    const refused = Promise.all(calls.slice(256));
    assert.deepEqual(new Set(await refused), new Set(['refused']));
    assert.ok(storage.attempts < 10, `${storage.attempts} attempts`);
    storage.isAway = false;
    assert.deepEqual(new Set(await Promise.all(calls.slice(0, 256))), new Set(['connected']));
  });

  it('is asked again while it refuses streams and the connection for calls is still open', async () => {
    const restart = makeRestartWait(async () => 'calls', { lost: 60_000, announced: 60_000 });
    let attempts = 0;
    const openStream = async (): Promise<string> => {
      attempts += 1;
      if (attempts < 4) throw storageUnavailable('refused');
      return 'stream';
    };
    assert.equal(await restart.connect(openStream, {}), 'stream');
    assert.equal(attempts, 4);
  });

  it('is not waited for by a call that its caller gives up', async () => {
    const { storage, restart, connect } = makeStorage();
    await connect();
    storage.isAway = true;
    const control = new AbortController();
    const waiting = connect({ signal: control.signal });
    control.abort(new Error('the client is gone'));
    await assert.rejects(waiting, { message: 'the client is gone' });
    restart.stop();
  });

  it('has more time after it announced its stop', async () => {
    const { storage, restart, connect } = makeStorage({ lost: 0, announced: 60_000 });
    await connect();
    storage.isAway = true;
    restart.noteStopping();
    const waiting = connect();
    await assert.rejects(connect({ seconds: 0.3 }), unavailable);
    storage.isAway = false;
    assert.equal(await waiting, 'connected');
  });
});

describe('a storage whose machine is gone without a sign', () => {
  /** A storage that was reached, and answers no attempt since, until `answer`. */
  const makeSilent = async (limits: { lost: number; announced: number }) => {
    const silent = { isSilent: false, discarded: 0 };
    const answered = Promise.withResolvers<string>();
    const open = async (): Promise<string> => (silent.isSilent ? await answered.promise : 'connected');
    const restart = makeRestartWait(open, limits);
    const discard = (): void => void (silent.discarded += 1);
    const connect = async (options: { signal?: AbortSignal; seconds?: number } = {}): Promise<string> =>
      await restart.connect(open, options, discard);
    await connect();
    silent.isSilent = true;
    return { silent, connect, answer: () => answered.resolve('late') };
  };

  it('is waited for within the limit of the outage', async () => {
    const { silent, connect, answer } = await makeSilent({ lost: 20, announced: 0 });
    await assert.rejects(connect(), unavailable);
    await assert.rejects(connect(), unavailable);
    answer();
    await new Promise((done) => setImmediate(done));
    assert.equal(silent.discarded, 1);
  });

  it('is waited for within the limits of the call', async () => {
    const { connect, answer } = await makeSilent({ lost: 60_000, announced: 60_000 });
    await assert.rejects(connect({ seconds: 0.01 }), unavailable);
    const control = new AbortController();
    const waiting = connect({ signal: control.signal });
    control.abort(new Error('the client is gone'));
    await assert.rejects(waiting, { message: 'the client is gone' });
    answer();
  });

  it('lets only so many calls connect', async () => {
    const { connect, answer } = await makeSilent({ lost: 60_000, announced: 60_000 });
    const calls = Array.from({ length: 300 }, async () => await connect());
    let message = '';
    while (!message.startsWith('too many calls'))
      message = await connect({ seconds: 0.05 }).catch((error: Error) => error.message);
    answer();
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['late']));
  });
});

describe('work that the storage waits for', () => {
  it('does not wait for a restart, and what it started does once it has ended', async () => {
    const { storage, restart, connect } = makeStorage();
    await connect();
    storage.isAway = true;
    restart.noteStopping();
    const ended = Promise.withResolvers<void>();
    let later = Promise.resolve('');
    await withoutRestartWait(async () => {
      await assert.rejects(connect({ seconds: 5 }), { ...unavailable, message: 'away' });
      later = ended.promise.then(async () => await connect());
    });
    ended.resolve();
    await assert.rejects(connect({ seconds: 0.01 }), unavailable);
    const duringOutage = withoutRestartWait(async () => await connect({ seconds: 5 }));
    await assert.rejects(duringOutage, { ...unavailable, message: 'the repository storage is away' });
    storage.isAway = false;
    assert.equal(await later, 'connected');
  });
});

describe('a storage that was given up', () => {
  it('refuses calls without an attempt, and then lets calls share one', async () => {
    const { storage, restart, connect } = makeStorage({ lost: 0, announced: 0 });
    await connect();
    storage.isAway = true;
    await assert.rejects(connect(), unavailable);
    storage.attempts = 0;
    for (let calls = 0; calls < 50; calls += 1) await assert.rejects(connect(), unavailable);
    assert.ok(storage.attempts <= 1, `${storage.attempts} attempts`);
    storage.isAway = false;
    restart.noteReached();
    assert.equal(await connect(), 'connected');
  });

  it('is tried once if it was never reached', async () => {
    const { storage, connect } = makeStorage();
    storage.isAway = true;
    await assert.rejects(connect(), unavailable);
    assert.equal(storage.attempts, 1);
  });
});
