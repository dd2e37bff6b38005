import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLruCache } from './lru_cache.ts';

const keysIn = (lru: { get: (key: string) => unknown }, keys: string[]): string[] =>
  keys.filter((key) => lru.get(key) !== undefined);

test('the least recently used entries are evicted past the bound', () => {
  const lru = makeLruCache<number>(2);
  lru.set('a', 1);
  lru.set('b', 2);
  lru.get('a');
  lru.set('c', 3);
  assert.deepEqual(keysIn(lru, ['a', 'b', 'c']), ['a', 'c']);
  lru.delete('a');
  lru.set('d', 4);
  assert.deepEqual(keysIn(lru, ['a', 'b', 'c', 'd']), ['c', 'd']);
});

test('keys count toward the weight, and a replaced entry no longer does', () => {
  const lru = makeLruCache<string>(10, (value, key) => value.length + key.length);
  for (let at = 0; at < 100; at += 1) lru.set('a', 'xxxx');
  lru.set('b', 'xxxx');
  assert.deepEqual(keysIn(lru, ['a', 'b']), ['a', 'b']);
  lru.set('long key', 'x');
  assert.deepEqual(keysIn(lru, ['a', 'b', 'long key']), ['long key']);
  lru.set('a', 'x'.repeat(10));
  assert.deepEqual(keysIn(lru, ['a', 'long key']), ['long key']);
});
