import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeCachedLookup, maxLookupAge } from './cached_lookup.ts';

const makeLookup = () => {
  let now = 0;
  let isFailing = false;
  const hosts: string[] = [];
  const lookup = makeCachedLookup(
    async (host) => {
      hosts.push(host);
      if (isFailing) throw new Error('no such host');
      return [{ address: `192.0.2.${hosts.length}`, family: 4 }];
    },
    () => now,
  );
  const resolve = async (host: string) => (await lookup(host)).map(({ address }) => address).join();
  return {
    hosts,
    resolve,
    wait: (milliseconds: number): void => void (now += milliseconds),
    fail: (fails: boolean): void => void (isFailing = fails),
  };
};

test('resolves a host once, also for requests at the same time, until its addresses are old', async () => {
  const { hosts, resolve, wait } = makeLookup();
  assert.deepEqual(await Promise.all([resolve('a'), resolve('a'), resolve('b')]), [
    '192.0.2.1',
    '192.0.2.1',
    '192.0.2.2',
  ]);
  wait(maxLookupAge - 1);
  assert.equal(await resolve('a'), '192.0.2.1');
  wait(1);
  assert.equal(await resolve('a'), '192.0.2.3');
  assert.deepEqual(hosts, ['a', 'b', 'a']);
});

test('resolves a host again after a lookup that failed', async () => {
  const { hosts, resolve, fail } = makeLookup();
  fail(true);
  await assert.rejects(resolve('a'), /no such host/);
  fail(false);
  assert.equal(await resolve('a'), '192.0.2.2');
  assert.deepEqual(hosts, ['a', 'a']);
});
