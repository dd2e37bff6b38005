import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededUser, seedUser } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { setBlocked } from './block.ts';

let gantry: TestService;
let root: number;
before(async () => {
  gantry = await startTestService();
  root = (await gantry.api('GET /user')).body.id;
});
after(async () => await gantry.close());

const refusal = { message: 'The last active administrator must remain one' };
const isAdmin = async (id: number): Promise<boolean> =>
  (await gantry.api(`GET /users/${id}`)).body.is_admin === true;
const resign = async ({ id, token }: SeededUser): Promise<Reply> =>
  await gantry.api(`PUT /users/${id}`, { as: token, json: { admin: false } });

test('the last active administrator keeps the role and the account', async () => {
  await seedUser(gantry, { admin: 1, state: 'blocked' });
  for (const line of [`PUT /users/${root}`, `DELETE /users/${root}`]) {
    const { status, body } = await gantry.api(line, { json: { admin: false, bio: 'x' } });
    assert.deepEqual([status, body], [409, refusal], line);
  }
  await assert.rejects(setBlocked(gantry.service.platform.store, null, root, true), { body: refusal });
  const { body } = await gantry.api(`GET /users/${root}`);
  assert.deepEqual([body.is_admin, body.state, body.bio], [true, 'active', null]);
});

test('one of several administrators may resign; of two at once, only one', async () => {
  const [one, other] = [await seedUser(gantry, { admin: 1 }), await seedUser(gantry, { admin: 1 })];
  const third = await seedUser(gantry, { admin: 1 });
  assert.equal((await resign(third)).status, 200);
  assert.equal(await isAdmin(third.id), false);
  assert.equal(
    (await gantry.api(`PUT /users/${root}`, { as: one.token, json: { admin: false } })).status,
    200,
  );
  const answers = await Promise.all([resign(one), resign(other)]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  );
});
