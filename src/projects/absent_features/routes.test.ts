import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('lists of what does not exist are empty, and hidden as their owner is', async () => {
  const [owner, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 50 });
  const { id } = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const lists = ['packages', 'wikis', 'feature_flags', 'access_requests'];
  const paths = [
    ...lists.map((list) => `/projects/${id}/${list}`),
    ...lists.filter((list) => list !== 'feature_flags').map((list) => `/groups/${group.id}/${list}`),
  ];
  for (const path of paths) {
    const { status, body, headers } = await gantry.api(`GET ${path}?per_page=5`, { as: owner.token });
    assert.deepEqual([status, body, headers.get('x-total')], [200, [], '0'], path);
    assert.equal((await gantry.api(`GET ${path}`, { as: stranger.token })).status, 404, path);
    assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 401, path);
  }
  const flag = await gantry.api(`GET /projects/${id}/feature_flags/any`, { as: owner.token });
  assert.deepEqual([flag.status, flag.body], [404, { message: '404 Not found' }]);
});

test('feature flags do not depend on environments', async () => {
  const developer = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  await gantry.api(`PUT /projects/${id}`, { json: { environments_access_level: 'disabled' } });
  await seedMember(gantry, { user: developer.id, project: id, access_level: 30 });
  const { status, body } = await gantry.api(`GET /projects/${id}/feature_flags`, { as: developer.token });
  assert.deepEqual([status, body], [200, []]);
});

test('a project was not imported', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'private' });
  const { status, body } = await gantry.api(`GET /projects/${id}/import`);
  assert.equal(status, 200);
  assert.deepEqual(
    [body.id, body.path_with_namespace, body.import_status, body.import_type, body.import_error],
    [id, full_path, 'none', null, null],
  );
  const stranger = await seedUser(gantry);
  assert.equal((await gantry.api(`GET /projects/${id}/import`, { as: stranger.token })).status, 404);
});
