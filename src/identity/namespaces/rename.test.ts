import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { renameRoutes } from './rename.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const paths = async (table: 'namespaces' | 'projects', ids: number[]): Promise<string[]> => {
  const { db } = gantry.service.platform.store;
  const rows = await db.selectFrom(table).select('full_path').where('id', 'in', ids).orderBy('id').execute();
  return rows.map((row) => row.full_path);
};

const routes = async (type: 'Namespace' | 'Project', ids: number[]): Promise<string[]> => {
  const query = gantry.service.platform.store.db
    .selectFrom('routes')
    .select('path')
    .where('source_type', '=', type);
  const rows = await query.where('source_id', 'in', ids).orderBy('source_id').execute();
  return rows.map((row) => row.path);
};

test('moves everything below a namespace and nothing else', async () => {
  const top = await seedGroup(gantry, { path: 'Old' });
  const middle = await seedGroup(gantry, { path: 'Old', parent: top.id });
  const leaf = await seedGroup(gantry, { path: 'leaf', parent: middle.id });
  const neighbour = await seedGroup(gantry, { path: 'Old-er' });
  const projects = [
    await seedProject(gantry, { namespace: top.id, path: 'Old.Old' }),
    await seedProject(gantry, { namespace: leaf.id, path: 'deep' }),
    await seedProject(gantry, { namespace: neighbour.id, path: 'other' }),
  ].map(({ id }) => id);
  const groups = [top, middle, leaf, neighbour].map(({ id }) => id);

  await gantry.service.platform.store.write(async (tx) => await renameRoutes(tx, top.id, 'Old', 'Brand.New'));

  assert.deepEqual(await paths('namespaces', groups), [
    'Brand.New',
    'Brand.New/Old',
    'Brand.New/Old/leaf',
    'Old-er',
  ]);
  assert.deepEqual(await paths('projects', projects), [
    'Brand.New/Old.Old',
    'Brand.New/Old/leaf/deep',
    'Old-er/other',
  ]);
  assert.deepEqual(await routes('Namespace', groups), [
    'brand.new',
    'brand.new/old',
    'brand.new/old/leaf',
    'old-er',
  ]);
  assert.deepEqual(await routes('Project', projects), [
    'brand.new/old.old',
    'brand.new/old/leaf/deep',
    'old-er/other',
  ]);
});
