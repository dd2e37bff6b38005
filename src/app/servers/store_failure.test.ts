import assert from 'node:assert/strict';
import { openSync } from 'node:fs';
import { test } from 'node:test';
import type { Store } from '../../platform/db/open.ts';
import { GitFailure } from '../../platform/git/failure.ts';
import { storeFailure } from './store_failure.ts';

const no = (): boolean => false;
const store = {
  isStoreFull: no,
  isUnreachable: no,
  isConflict: no,
  isUniqueViolation: no,
  isForeignKeyViolation: no,
} as unknown as Store;

test('what passes is unavailable, what is gone is missing, the rest is unexpected', () => {
  const kindOf = (error: unknown): string | undefined => storeFailure(store)(error)?.kind;
  const coded = (code: string): Error => Object.assign(new Error('no'), { code });
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])
    assert.equal(kindOf(coded(code)), 'unavailable', code);
  assert.equal(kindOf(new GitFailure('unavailable', 'a process was killed')), 'unavailable');
  assert.equal(kindOf(new GitFailure('limit', 'it took too long')), 'unavailable');
  assert.equal(kindOf(new GitFailure('too_large', 'a file')), 'too_large');
  assert.equal(kindOf(new GitFailure('conflict', 'the ref has moved')), 'conflict');
  assert.equal(kindOf(new GitFailure('invalid', 'a name')), 'bad_request');
  assert.equal(kindOf(new GitFailure('missing', 'a commit')), 'not_found');
  assert.equal(kindOf(new GitFailure('no_repository', 'removed')), 'not_found');
  assert.equal(kindOf(new GitFailure('internal', 'a bug')), undefined);
  assert.throws(
    () => openSync('/no/such/file', 'r'),
    (error) => kindOf(error) === undefined,
  );
  assert.equal(kindOf(null), undefined);
});
