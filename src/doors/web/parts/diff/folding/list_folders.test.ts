import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listFolders } from './list_folders.ts';

test('lists folders that contain others first', () => {
  const paths = ['a/b/c/x', 'a/b/y', 'z', 'd/e/x', 'a/f/x'];
  assert.deepEqual(listFolders(paths, 100), ['', 'a', 'd', 'a/b', 'a/f', 'd/e', 'a/b/c']);
  assert.deepEqual(listFolders(paths, 4), ['', 'a', 'd', 'a/b']);
  assert.deepEqual(listFolders(['x'], 4), ['']);
});

test('deep paths end at the limit: what is below it is not read', () => {
  let reads = 0;
  const path = 'a/'.repeat(2_000);
  const counted = Object.assign(Object.create(String.prototype), {
    indexOf: (part: string, start: number) => {
      reads += 1;
      return path.indexOf(part, start);
    },
    slice: (start: number, end: number) => path.slice(start, end),
  });
  assert.equal(
    listFolders(
      Array.from({ length: 10 }, () => counted as string),
      500,
    ).length,
    500,
  );
  assert.ok(reads <= 10 * 500);
});
