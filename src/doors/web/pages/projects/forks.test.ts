/** Tests the pages that list and create forks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let id: number;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  ({ id, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

test('forks a project into a group that the user may create projects in', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  const group = await seedGroup(gantry, { owner: id });
  const other = await seedGroup(gantry);
  const home = await user.get(`/${project.full_path}`);
  assert.ok(home.text.includes(`href="/${project.full_path}/-/forks/new"`));
  const { status, text } = await user.get(`/${project.full_path}/-/forks/new`);
  assert.equal(status, 200);
  assert.ok(text.includes(`<option value="${group.id}">`));
  assert.equal(text.includes(`<option value="${other.id}">`), false);
  const path = unique('copy');
  const filled = { namespace_id: String(group.id), name: 'A copy', path, visibility: 'private' };
  const made = await user.post(`/${project.full_path}/-/forks`, filled);
  assert.deepEqual([made.status, made.location], [303, `/${group.full_path}/${path}`]);
  const { body } = await gantry.api(`GET /projects/${encodeURIComponent(`${group.full_path}/${path}`)}`);
  assert.deepEqual([body.visibility, body.forked_from_project.id], ['private', project.id]);
  const list = await user.get(`/${project.full_path}/-/forks`);
  assert.ok(list.text.includes(`href="/${group.full_path}/${path}"`));
  const seen = await openVisitor(gantry).get(`/${project.full_path}/-/forks`);
  assert.deepEqual([seen.status, seen.text.includes(path)], [200, false], 'hidden forks stay hidden');
});

test('shows the form again for a taken path, and keeps what was filled in', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  await seedProject(gantry, { owner: id, path: project.path });
  await user.get(`/${project.full_path}/-/forks/new`);
  const again = await user.post(`/${project.full_path}/-/forks`, { name: 'Kept <name>', path: project.path });
  assert.equal(again.status, 422);
  const description = 'y'.repeat(2001);
  const long = await user.post(`/${project.full_path}/-/forks`, {
    name: 'Other',
    path: 'other',
    description,
  });
  assert.equal(long.status, 422);
  assert.ok(long.text.includes('Description is too long'));
  for (const kept of ['value="Other"', 'value="other"', description])
    assert.ok(long.text.includes(kept), kept);
  assert.ok(again.text.includes('has already been taken'));
  assert.ok(again.text.includes('value="Kept &lt;name&gt;"'));
});

test('refuses forks into a namespace of others, and by guests of a private project', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const other = await seedGroup(gantry);
  await user.get(`/${project.full_path}/-/forks/new`);
  const refused = await user.post(`/${project.full_path}/-/forks`, { namespace_id: String(other.id) });
  assert.equal(refused.status, 404);
  const closed = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: id, project: closed.id, access_level: 10 });
  const home = await user.get(`/${closed.full_path}`);
  assert.equal(home.text.includes('/-/forks/new'), false);
  assert.equal((await user.get(`/${closed.full_path}/-/forks/new`)).status, 403);
  assert.equal((await user.post(`/${closed.full_path}/-/forks`)).status, 403);
});

test('hides the pages of a hidden project', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  for (const page of ['forks', 'forks/new', 'starrers']) {
    const [seen, missing] = [
      await user.get(`/${hidden.full_path}/-/${page}`),
      await user.get(`/no/project/-/${page}`),
    ];
    assert.deepEqual([seen.status, seen.text], [404, missing.text], page);
    const path = `/${hidden.full_path}/-/${page}`;
    const { location } = await openVisitor(gantry).get(path);
    assert.equal(location, `/users/sign_in?return_to=${encodeURIComponent(path)}`);
  }
  assert.equal((await user.post(`/${hidden.full_path}/-/forks`)).status, 404);
});

test('refuses an order that does not exist', async () => {
  const project = await seedProject(gantry);
  assert.equal((await user.get(`/${project.full_path}/-/forks?sort=fame`)).status, 400);
});
