import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forbidden, notFound, nullIfMissing, unavailable } from './errors.ts';

test('nullIfMissing takes only a missing record for null', async () => {
  assert.equal(await nullIfMissing(Promise.resolve(1)), 1);
  assert.equal(await nullIfMissing(Promise.reject(notFound('Project'))), null);
  for (const error of [forbidden(), unavailable(), new Error('database')])
    await assert.rejects(nullIfMissing(Promise.reject(error)), error);
});
