import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Failure } from '../../platform/errors.ts';
import { hashPassword, isPassword } from './password.ts';

test('refuses passwords beyond the queue limit and accepts the next one', async () => {
  const many = Array.from({ length: 120 }, async () => await hashPassword('correct horse', randomBytes));
  const done = await Promise.allSettled(many);
  const refused = done.filter((one) => one.status === 'rejected');
  assert.equal(refused.length, 17);
  for (const { reason } of refused) {
    assert.ok(reason instanceof Failure);
    assert.deepEqual([reason.status, reason.headers['retry-after']], [429, '5']);
  }
  const stored = await hashPassword('correct horse', randomBytes);
  assert.deepEqual(
    [await isPassword('correct horse', stored), await isPassword('wrong', stored)],
    [true, false],
  );
});
