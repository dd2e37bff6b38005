/** Tests what administrators see and change of a user's linked accounts and memberships, and their sorting. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ visitor: admin } = await seedVisitor(gantry, { admin: 1 }));
});
after(async () => await gantry.close());

test('links and unlinks an account at a sign-in provider', async () => {
  const [{ id }, other] = [await seedUser(gantry), await seedUser(gantry)];
  const path = `/admin/users/${id}/identities`;
  const identities = async () => (await gantry.api(`GET /users/${id}`)).body.identities;
  assert.match((await admin.get(path)).text, /No linked accounts/);
  const account = { provider: 'corporate', extern_uid: unique('uid') };
  assert.equal((await admin.post(path, account)).location, path);
  assert.deepEqual(await identities(), [account]);
  const blank = await admin.post(path, { provider: ' ', extern_uid: 'kept' });
  assert.equal(blank.status, 422);
  assert.match(blank.text, /id="provider_error"[\s\S]+value="kept"/);
  const taken = await admin.post(`/admin/users/${other.id}/identities`, account);
  assert.deepEqual([taken.status, /id="extern_uid_error"/.test(taken.text)], [422, true]);
  const moved = { ...account, extern_uid: unique('<uid>') };
  assert.equal((await admin.post(path, moved)).location, path);
  assert.deepEqual(await identities(), [moved]);
  assert.match((await admin.get(path)).text, /corporate<\/th><td><code>&lt;uid&gt;/);
  assert.equal((await admin.post(`${path}/delete`, { provider: 'corporate' })).location, path);
  assert.deepEqual(await identities(), []);
  const { db } = gantry.service.platform.store;
  const log = db.selectFrom('audit_events').select('kind').where('target_id', '=', id);
  const rows = await log.where('kind', 'like', 'identity.%').orderBy('id').execute();
  const kinds = rows.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['identity.created', 'identity.created', 'identity.deleted']);
});

test('lists memberships with their roles', async () => {
  const { id } = await seedUser(gantry);
  const path = `/admin/users/${id}/memberships`;
  assert.match((await admin.get(path)).text, /No memberships/);
  const [group, project] = [
    await seedGroup(gantry, { visibility: 'private' }),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  await seedMember(gantry, { user: id, group: group.id, access_level: 50 });
  await seedMember(gantry, { user: id, project: project.id, access_level: 20 });
  const { text } = await admin.get(path);
  assert.match(text, new RegExp(`href="/groups/${group.full_path}"[\\s\\S]+Group</td>\\s*<td>Owner<`));
  assert.match(text, new RegExp(`href="/${project.full_path}"[\\s\\S]+Project</td>\\s*<td>Reporter<`));
  const { visitor } = await seedVisitor(gantry);
  for (const one of [path, `/admin/users/${id}/identities`])
    assert.equal((await visitor.get(one)).status, 404, one);
});

test('sorts users by their last activity, those without any last', async () => {
  const word = unique('sorted');
  const days = ['2026-01-02', null, '2026-03-04', '2025-12-31'];
  const { write } = gantry.service.platform.store;
  const ids: number[] = [];
  for (const day of days) {
    const { id } = await seedUser(gantry);
    await gantry.api(`PUT /users/${id}`, { json: { name: `${word} ${id}` } });
    await write(async ({ db }) => {
      await db.updateTable('users').set({ last_activity_on: day }).where('id', '=', id).execute();
    });
    ids.push(id);
  }
  const { text } = await admin.get(`/admin/users?sort=active&search=${word}`);
  const listed = [...text.matchAll(/class="title" href="\/admin\/users\/(\d+)"/g)].map(([, id]) =>
    Number(id),
  );
  assert.deepEqual(listed, [ids[2], ids[0], ids[3], ids[1]]);
});
