/** The version of the hooks, which tells writes whether to look for any. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const readVersion = async (): Promise<string> => {
  const row = await gantry.service.platform.store.db
    .selectFrom('instance')
    .select('value')
    .where('name', '=', 'hooks_version')
    .executeTakeFirstOrThrow();
  return row.value;
};

test('a move of a project or group makes writes look for hooks only once one was made', async () => {
  const [from, to] = [await seedGroup(gantry), await seedGroup(gantry)];
  const sub = await seedGroup(gantry, { parent: from.id });
  const { id } = await seedProject(gantry, { namespace: from.id });
  const move = async (namespace: number): Promise<void> => {
    const moved = await gantry.api(`PUT /projects/${id}/transfer`, { json: { namespace } });
    assert.equal(moved.status, 200, moved.text);
  };
  await move(to.id);
  const moved = await gantry.api(`POST /groups/${sub.id}/transfer`, { json: { group_id: to.id } });
  assert.equal(moved.status, 201, moved.text);
  assert.equal(await readVersion(), '0');
  await gantry.api(`POST /projects/${id}/hooks`, { json: { url: 'https://example.com/' } });
  const before = Number(await readVersion());
  await move(from.id);
  assert.equal(Number(await readVersion()), before + 1);
});
