/** Tests the page of a project's job token allowlists. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Creates a private project and its maintainer. */
const owned = async () => {
  const master = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  const page = `/${project.full_path}/-/job_token_scope`;
  await master.visitor.get(page);
  return { project, master, page };
};

const idsOf = async (project: number, list: 'allowlist' | 'groups_allowlist'): Promise<number[]> => {
  const { body } = await gantry.api(`GET /projects/${project}/job_token_scope/${list}`);
  return body.map(({ id }: { id: number }) => id);
};

const rowsOf = (text: string): (string | undefined)[] =>
  [...text.matchAll(/<th scope="row">([^<]+)<\/th>/g)].map(([, name]) => name);

test('adds projects and groups by path, lists and removes them', async () => {
  const { project, master, page } = await owned();
  const { visitor } = master;
  const other = await seedProject(gantry, { owner: master.id, visibility: 'private' });
  const group = await seedGroup(gantry, { owner: master.id, visibility: 'private' });
  const added = await visitor.post(`${page}/projects`, { target_project_id: ` /${other.full_path}/ ` });
  assert.deepEqual([added.status, added.location], [303, page]);
  const listed = await visitor.post(`${page}/groups`, { target_group_id: group.full_path.toUpperCase() });
  assert.equal(listed.status, 303);
  assert.deepEqual(await idsOf(project.id, 'allowlist'), [project.id, other.id]);
  assert.deepEqual(await idsOf(project.id, 'groups_allowlist'), [group.id]);
  const { status, text } = await visitor.get(page);
  assert.equal(status, 200);
  assert.deepEqual(rowsOf(text), [project.full_path, other.full_path, group.full_path]);
  assert.doesNotMatch(text, new RegExp(`${page}/projects/${project.id}/delete`));
  assert.match(text, new RegExp(`${page}/projects/${other.id}/delete`));
  assert.equal((await visitor.post(`${page}/projects/${other.id}/delete`)).status, 303);
  assert.equal((await visitor.post(`${page}/groups/${group.id}/delete`)).status, 303);
  assert.deepEqual(await idsOf(project.id, 'allowlist'), [project.id]);
  assert.deepEqual(await idsOf(project.id, 'groups_allowlist'), []);
  assert.match((await visitor.get(page)).text, /No groups/);
});

test('accepts ids as well as paths', async () => {
  const { project, master, page } = await owned();
  const other = await seedProject(gantry, { owner: master.id });
  const { status } = await master.visitor.post(`${page}/projects`, { target_project_id: `${other.id}` });
  assert.deepEqual([status, await idsOf(project.id, 'allowlist')], [303, [project.id, other.id]]);
});

test('turns the lists off and on', async () => {
  const { project, master, page } = await owned();
  const { visitor } = master;
  const enabled = async () =>
    (await gantry.api(`GET /projects/${project.id}/job_token_scope`)).body.inbound_enabled;
  assert.match((await visitor.get(page)).text, /name="enabled" type="checkbox" value="1" checked/);
  assert.equal((await visitor.post(page, { enabled: '0' })).status, 303);
  assert.equal(await enabled(), false);
  const { text } = await visitor.get(page);
  assert.match(text, /the lists below have no effect/);
  assert.doesNotMatch(text, /name="enabled" type="checkbox" value="1" checked/);
  assert.equal((await visitor.post(page)).status, 303);
  assert.equal(await enabled(), false);
  await visitor.post(page, { enabled: '1' });
  assert.equal(await enabled(), true);
});

test('shows problems and keeps the input, and changes nothing', async () => {
  const { project, master, page } = await owned();
  const { visitor } = master;
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const other = await seedProject(gantry, { owner: master.id });
  await visitor.post(`${page}/projects`, { target_project_id: other.full_path });
  const cases = [
    ['projects', 'target_project_id', hidden.full_path, /Project was not found/],
    ['projects', 'target_project_id', 'no/such"><b>', /Project was not found/],
    ['projects', 'target_project_id', '', /Project was not found/],
    ['projects', 'target_project_id', '999999999999999999999', /Project was not found/],
    [
      'projects',
      'target_project_id',
      project.full_path,
      /Project can&#39;t be the same as the source project/,
    ],
    ['projects', 'target_project_id', other.full_path, /Project has already been taken/],
    ['groups', 'target_group_id', 'no-such', /Group was not found/],
    // A personal namespace is not a group.
    ['groups', 'target_group_id', other.full_path.split('/')[0] ?? '', /Group was not found/],
  ] as const;
  for (const [list, field, typed, said] of cases) {
    const { status, text } = await visitor.post(`${page}/${list}`, { [field]: typed });
    assert.equal(status, 422, typed);
    assert.match(text, said);
    assert.doesNotMatch(text, /<b>/);
    const value = new RegExp(`name="${field}" type="text" value="([^"]*)"`).exec(text)?.[1];
    assert.equal(value?.replaceAll('&quot;', '"').replace('&lt;b&gt;', '<b>').replace('&gt;', '>'), typed);
  }
  assert.deepEqual(await idsOf(project.id, 'allowlist'), [project.id, other.id]);
  assert.equal((await visitor.post(`${page}/projects`)).status, 422);
  assert.equal((await visitor.post(`${page}/projects/${hidden.id}/delete`)).status, 404);
  assert.equal((await visitor.post(`${page}/projects/${project.id}/delete`)).status, 400);
});

test('hides listed entries that the visitor cannot see', async () => {
  const { project, master, page } = await owned();
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const json = { target_project_id: hidden.id };
  await gantry.api(`POST /projects/${project.id}/job_token_scope/allowlist`, { json });
  const { text } = await master.visitor.get(page);
  assert.deepEqual(rowsOf(text), [project.full_path]);
});

test('is for maintainers of the project', async () => {
  const { project, master, page } = await owned();
  const developer = await seedVisitor(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  assert.equal((await developer.visitor.get(page)).status, 403);
  await developer.visitor.get('/profile');
  assert.equal((await developer.visitor.post(page, { enabled: '0' })).status, 403);
  const link = `href="${page}"`;
  const pipelines = `/${project.full_path}/-/pipelines`;
  assert.equal((await developer.visitor.get(pipelines)).text.includes(link), false);
  const settings = `/${project.full_path}/-/variables`;
  assert.equal((await master.visitor.get(settings)).text.includes(link), true);
  const { body } = await gantry.api(`GET /projects/${project.id}/job_token_scope`);
  assert.equal(body.inbound_enabled, true);
});
