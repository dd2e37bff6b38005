import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { makeReadOnly } from '../../test/support/machine/read_only_folder.ts';
import { makeFolder } from './make_folder.ts';

it('creates missing parents, and reports the first folder and the cause of a failure', async (test) => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-folder-'));
  try {
    assert.equal(await makeFolder(join(root, 'a/b/c'), 0o700), join(root, 'a'));
    assert.equal(await makeFolder(join(root, 'a/b/c')), undefined);
    assert.equal(statSync(join(root, 'a/b/c')).mode & 0o777, 0o700);
    writeFileSync(join(root, 'file'), '');
    await assert.rejects(makeFolder(join(root, 'file/a')), { code: 'ENOTDIR' });
    mkdirSync(join(root, 'disk'));
    const makeWritable = makeReadOnly(join(root, 'disk'));
    if (typeof makeWritable === 'string') {
      test.skip(makeWritable);
      return;
    }
    for (const path of ['disk/a', 'disk/a/b/c'])
      await assert.rejects(makeFolder(join(root, path)), { code: 'EROFS' }, path);
    makeWritable();
    assert.equal(await makeFolder(join(root, 'disk/a/b/c')), join(root, 'disk/a'));
  } finally {
    rmSync(root, { recursive: true });
  }
});
