/** Tests housekeeping and the removal of a fork relationship in the settings of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededVisitor;
let master: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  [owner, master] = [await seedVisitor(gantry), await seedVisitor(gantry)];
});
after(async () => await gantry.close());

test('schedules housekeeping for those who administer the project', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, project.id, { a: '1' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  const path = `/${project.full_path}/-/settings`;
  assert.match((await master.visitor.get(path)).text, /Run housekeeping/);
  assert.equal((await master.visitor.post(`${path}/housekeeping`)).location, path);
  assert.match((await master.visitor.get(path)).text, /Housekeeping was scheduled/);
  const { db } = gantry.service.platform.store;
  const audit = db.selectFrom('audit_events').select('id').where('kind', '=', 'project.housekeeping');
  assert.equal((await audit.where('target_id', '=', project.id).execute()).length, 1);
  await owner.visitor.get('/profile');
  assert.equal((await owner.visitor.post(`${path}/housekeeping`)).status, 403);
});

test('owners remove the fork relationship; a hidden source is not named', async () => {
  const group = await seedGroup(gantry, { owner: owner.id });
  const source = await seedProject(gantry, { visibility: 'public', path: unique('source') });
  await seedCommit(gantry, source.id, { a: '1' });
  const json = { namespace_path: group.full_path, path: unique('fork') };
  const { body: fork } = await gantry.api(`POST /projects/${source.id}/fork`, { json });
  await seedMember(gantry, { user: master.id, project: fork.id, access_level: 40 });
  const path = `/${fork.path_with_namespace}/-/settings`;
  assert.match((await owner.visitor.get(path)).text, new RegExp(`fork of <a href="/${source.full_path}">`));
  await gantry.api(`PUT /projects/${source.id}`, { json: { visibility: 'private' } });
  const hidden = await owner.visitor.get(path);
  assert.match(hidden.text, /Remove fork relationship[\s\S]+fork of another project/);
  assert.ok(!hidden.text.includes(source.full_path));
  assert.doesNotMatch((await master.visitor.get(path)).text, /Remove fork relationship/);
  assert.equal((await master.visitor.post(`${path}/remove_fork`)).status, 403);
  for (let times = 0; times < 2; times += 1)
    assert.equal((await owner.visitor.post(`${path}/remove_fork`)).location, path);
  const { body } = await gantry.api(`GET /projects/${fork.id}`);
  assert.equal(body.forked_from_project, undefined);
  assert.doesNotMatch((await owner.visitor.get(path)).text, /Remove fork relationship/);
});
