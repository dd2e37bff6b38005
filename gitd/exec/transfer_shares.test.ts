import { it } from 'node:test';
import assert from 'node:assert/strict';
import { makeSlots } from './slots.ts';
import { transferShares } from './transfer_shares.ts';

const places = 16;

type Client = { name: string; address: string };

const elsewhere = (number: number): Client => ({ name: `user ${number}`, address: `192.0.2.${number}` });

/** Takes slots for many clients until one must wait. */
const takeAll = async (kind: 'push' | 'read', clientOf: (number: number) => Client = elsewhere) => {
  const slots = makeSlots(places);
  const stop = new AbortController();
  let number = 0;
  const take = async (one: 'push' | 'read', client?: Client): Promise<boolean> => {
    number += 1;
    const taken = slots.take(stop.signal, transferShares(one, client ?? clientOf(number))).then(
      () => true,
      () => false,
    );
    return await Promise.race([taken, new Promise<boolean>((done) => setImmediate(() => done(false)))]);
  };
  let count = 0;
  while (await take(kind)) count += 1;
  return { count, take, stop };
};

for (const [kind, other] of [
  ['read', 'push'],
  ['push', 'read'],
] as const) {
  it(`leaves a quarter of the slots to the other kind, however many hold a ${kind}`, async () => {
    const { count, take, stop } = await takeAll(kind);
    assert.equal(count, (places * 3) / 4);
    const others: boolean[] = [];
    for (let at = 0; at <= places / 4; at += 1) others.push(await take(other));
    assert.deepEqual(others, [true, true, true, true, false]);
    stop.abort(new Error('the test is over'));
  });
}

it('leaves half of the slots to other addresses, however many users one address has', async () => {
  const { count, take, stop } = await takeAll('read', (number) => ({
    name: `user ${number}`,
    address: '198.51.100.1',
  }));
  assert.equal(count, places / 2);
  assert.equal(await take('push'), false);
  assert.equal(await take('push', elsewhere(1)), true);
  stop.abort(new Error('the test is over'));
});
