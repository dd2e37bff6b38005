import { it } from 'node:test';
import assert from 'node:assert/strict';
import type { Client } from '../protocol_records.ts';
import { interactiveShares } from './interactive_shares.ts';
import { type Slots, makeSlots } from './slots.ts';

const user = (id: number): Client => ({ name: `user ${id}`, address: '192.0.2.1' });
const visitor = (id: number): Client => ({ name: `address 192.0.2.${id}`, address: `192.0.2.${id}` });

/** Opens eight slots, and counts how many of them clients get. */
const openSlots = () => {
  const slots: Slots = makeSlots(8);
  const stop = new AbortController();
  const take = async (kind: 'change' | 'read', client: Client | null): Promise<boolean> => {
    const shares = client === null ? [] : interactiveShares(kind, client);
    const taken = slots.take(stop.signal, shares).then(
      () => true,
      () => false,
    );
    return await Promise.race([taken, new Promise<boolean>((done) => setImmediate(() => done(false)))]);
  };
  const count = async (kind: 'change' | 'read', client: Client | null): Promise<number> => {
    let number = 0;
    while (await take(kind, client)) number += 1;
    return number;
  };
  return { count, stop: () => stop.abort(new Error('the test is over')) };
};

it('gives a user half of the slots, other readers a quarter, and leaves a quarter to changes', async () => {
  const { count, stop } = openSlots();
  assert.equal(await count('read', user(1)), 4);
  assert.equal(await count('change', user(1)), 0);
  assert.equal(await count('read', user(2)), 2);
  assert.equal(await count('read', user(3)), 0);
  assert.equal(await count('change', user(3)), 2);
  stop();
});

it('gives an anonymous address a quarter of the slots, and all of them half', async () => {
  const { count, stop } = openSlots();
  assert.equal(await count('read', visitor(1)), 2);
  assert.equal(await count('read', visitor(2)), 2);
  assert.equal(await count('read', visitor(3)), 0);
  assert.equal(await count('read', user(1)), 2);
  assert.equal(await count('change', null), 2);
  stop();
});
