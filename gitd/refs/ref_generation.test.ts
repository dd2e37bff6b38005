import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeGenerations } from './ref_generation.ts';

test('a number rises with each change of its repository, and with no other', () => {
  const generations = makeGenerations(10);
  const before = [generations.get('a'), generations.get('b')];
  generations.raise('a');
  assert.ok(generations.get('a') > before[0]!);
  assert.equal(generations.get('b'), before[1]);
});

test('only recent repositories have their own number, and no number is reused', () => {
  const most = 10;
  const generations = makeGenerations(most);
  const seen = new Map<string, number>();
  for (let at = 0; at < 1_000; at += 1) {
    const dir = `repository ${(at * 7) % 101}`;
    const before = generations.get(dir);
    generations.raise(dir);
    assert.ok(generations.get(dir) > before);
    assert.ok(generations.size() <= most);
    for (const [other, last] of seen) assert.ok(generations.get(other) >= last, other);
    seen.set(dir, generations.get(dir));
  }
});
