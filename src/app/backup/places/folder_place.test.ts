import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordDamage } from './backup_place.ts';
import { openFolderPlace, openFolderReader } from './folder_place.ts';

const isRoot = process.getuid?.() === 0;

test('what root records in a place belongs to the owner of the place', { skip: !isRoot }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-test-'));
  try {
    await openFolderPlace(root, 'an-instance');
    chownSync(root, 12_345, 12_346);
    const digest = 'a'.repeat(64);
    assert.equal(await recordDamage(await openFolderReader(root), [digest]), true);
    for (const path of ['damaged', `damaged/${digest}`]) {
      const { uid, gid } = statSync(join(root, path));
      assert.deepEqual([uid, gid], [12_345, 12_346], path);
    }
  } finally {
    rmSync(root, { recursive: true });
  }
});
