import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLruCache } from './lru_cache.ts';

test('evicts the least recently used entries, and keeps nothing heavier than itself', () => {
  const cache = makeLruCache<string>(6, (value) => value.length);
  cache.set('a', 'aaa');
  cache.set('b', 'bbb');
  assert.equal(cache.get('a'), 'aaa');
  cache.set('c', 'cc');
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], ['aaa', undefined, 'cc']);
  cache.set('a', 'a');
  cache.set('d', 'ddd');
  cache.set('e', 'eeeeeee');
  assert.deepEqual(['a', 'c', 'd', 'e'].map(cache.get), ['a', 'cc', 'ddd', undefined]);
});
