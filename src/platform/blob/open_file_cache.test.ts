import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { OpenFiles } from './open_file_cache.ts';

test('does not cache the end of a closed file', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  context.after(async () => await rm(root, { recursive: true, force: true }));
  const files = new OpenFiles(root);
  const file = join(root, 'file');
  await files.inTurn(file, async (entry) => {
    await files.open(file, entry, true);
    Object.assign(entry, { size: 3, ending: Buffer.from('end') });
    await files.close(entry);
  });
  await files.inTurn(file, async ({ size, ending }) => {
    await Promise.resolve();
    assert.deepEqual([size, ending.length], [3, 0]);
  });
});
