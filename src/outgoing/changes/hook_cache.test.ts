/** The version of the hooks, which tells writes whether to look for any. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { observeOperations } from '../../platform/db/statement_meter.ts';

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

test('a write without a hook runs no further statement because of hooks elsewhere', async () => {
  const [plain, hooked] = [await seedProject(gantry), await seedProject(gantry)];
  const create = async (): Promise<string[]> => {
    const statements: string[] = [];
    const stop = observeOperations(({ kind, name, meter }) => {
      if (kind === 'sql' && meter?.about?.['work'] === undefined) statements.push(name);
    });
    const { status } = await gantry.api(`POST /projects/${plain.id}/issues`, { json: { title: 'Quiet' } });
    stop();
    assert.equal(status, 201);
    return statements;
  };
  await create();
  const before = await create();
  const json = { url: 'https://example.com/', issues_events: true };
  assert.equal((await gantry.api(`POST /projects/${hooked.id}/hooks`, { json })).status, 201);
  await create(); // loads the hooks of the project
  const later = await create();
  assert.deepEqual(later, before);
  assert.deepEqual(
    later.filter((text) => text.includes('"hooks"')),
    [],
  );
});

test('a write passes over a hook that was deleted since it was found', async () => {
  const { id } = await seedProject(gantry);
  const hook = await gantry.api(`POST /projects/${id}/hooks`, {
    json: { url: 'https://example.com/', issues_events: true, push_events: false },
  });
  assert.equal(hook.status, 201, hook.text);
  const create = async () => await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Broken' } });
  assert.equal((await create()).status, 201);
  const { store } = gantry.service.platform;
  const countDeliveries = async (): Promise<number> =>
    (await store.db.selectFrom('hook_deliveries').select('id').where('hook_id', '=', hook.body.id).execute())
      .length;
  assert.equal(await countDeliveries(), 1);
  // The cache does not learn of this one: as if it happened between the look into the cache and the end of a write.
  await store.write(async ({ db }) => await db.deleteFrom('hooks').where('id', '=', hook.body.id).execute());
  const second = await create();
  assert.equal(second.status, 201, second.text);
  assert.equal(await countDeliveries(), 0);
});
