import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Storage } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { asGone } from './call_context.ts';

test('an error of git in a repository that was removed meanwhile says so', async () => {
  const root = await mkdtemp(join(tmpdir(), 'gantry-gone-'));
  const storage = { root } as Storage;
  const repository = `@hashed/ab/cd/abcd${'0'.repeat(60)}.git`;
  const unexpected = new GitError('internal', 'git diff-tree ended with 128: fatal: not a git repository');
  const kindOf = async (error: unknown, params: object): Promise<unknown> =>
    ((await asGone(error, storage, params)) as GitError).kind;
  assert.equal(await kindOf(unexpected, { repository }), 'no_repository');
  assert.equal(await kindOf(unexpected, { repository, written: true }), 'unavailable');
  assert.equal(await kindOf(new GitError('limit', 'late'), { repository }), 'limit');
  assert.equal(await kindOf(unexpected, {}), 'internal');
  await rm(root, { recursive: true });
});
