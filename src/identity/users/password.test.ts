import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { Failure } from '../../platform/errors.ts';
import { hashPassword, isPassword, setPasswordCost, usualPasswordCost } from './password.ts';

// Files with services may have run before in this process.
before(() => setPasswordCost(usualPasswordCost));

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

test('hashes with 19 MiB in two passes, and verifies hashes of any cost', async () => {
  const usual = await hashPassword('correct horse', randomBytes);
  assert.match(usual, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
  setPasswordCost({ memory: 8, passes: 1, parallelism: 1 });
  const cheap = await hashPassword('correct horse', randomBytes);
  assert.match(cheap, /^\$argon2id\$v=19\$m=8,t=1,p=1\$/);
  for (const stored of [usual, cheap]) {
    assert.equal(await isPassword('correct horse', stored), true);
    assert.equal(await isPassword('wrong', stored), false);
  }
  assert.equal(await isPassword('correct horse', null), false);
});
