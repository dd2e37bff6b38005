import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitAtMost } from './wait_at_most.ts';

const hour = 3_600_000;

describe('waitAtMost', () => {
  it('resolves with the result of work that ends in time', async () => {
    assert.equal(await waitAtMost(Promise.resolve('done'), hour, 'late'), 'done');
  });

  it('rejects with the failure of work that fails in time', async () => {
    await assert.rejects(waitAtMost(Promise.reject(new Error('broken')), hour, 'late'), {
      message: 'broken',
    });
  });

  it('resolves to the fallback if the work is late, and ignores its failure', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    const keepAlive = setTimeout(() => undefined, hour);
    assert.equal(await waitAtMost(promise, 1, 'late'), 'late');
    clearTimeout(keepAlive);
    reject(new Error('broken'));
  });
});
