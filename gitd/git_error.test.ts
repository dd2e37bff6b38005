import { it } from 'node:test';
import assert from 'node:assert/strict';
import { GitError, classifyError } from './git_error.ts';

it('calls a disk that is full, read-only or failing unavailable, in the words of git and of the system', () => {
  for (const message of [
    'error: unable to create temporary file: No space left on device',
    "fatal: cannot lock ref 'refs/heads/a': Unable to create '/r/a.lock': Read-only file system",
    'error: file write error: Input/output error',
    'fatal: Disk quota exceeded',
  ])
    assert.equal(classifyError(new GitError('internal', `git ended with 128: ${message}`)), 'unavailable');
  for (const code of ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])
    assert.equal(classifyError(new Error(`${code}: failed, mkdir '/r'`)), 'unavailable', code);
  assert.equal(classifyError(new Error("ENOENT: no such file, open '/r/EIO_files'")), 'internal');
  assert.equal(classifyError(new GitError('conflict', 'Read-only file system')), 'conflict');
});
