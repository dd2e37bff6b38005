/** Tests the page that creates projects. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let id: number;
let username: string;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  ({ id, username, visitor: user } = await seedVisitor(gantry));
});
after(async () => {
  await gantry.api('PUT /application/settings', { json: { restricted_visibility_levels: [] } });
  await gantry.close();
});

const show = async (path: string) => (await gantry.api(`GET /projects/${encodeURIComponent(path)}`)).body;

test('creates an empty project with a path derived from its name', async () => {
  assert.equal((await user.get('/projects/new')).status, 200);
  const name = `My ${unique('bridge')}`;
  const made = await user.post('/projects', { name, initialize_with_readme: '0' });
  const path = `${username}/${name.toLowerCase().replace(' ', '-')}`;
  assert.deepEqual([made.status, made.location], [303, `/${path}`]);
  const project = await show(path);
  assert.deepEqual([project.name, project.empty_repo, project.visibility], [name, true, 'private']);
});

test('creates a project in a group, with README, license and .gitignore', async () => {
  const group = await seedGroup(gantry, { owner: id });
  const path = unique('span');
  const filled = { namespace_id: String(group.id), name: 'Span planner', path, visibility: 'public' };
  const { location } = await user.post('/projects', {
    ...filled,
    description: 'Plans *spans*',
    initialize_with_readme: '1',
    gitignore: 'Node',
    license: 'mit',
  });
  assert.equal(location, `/${group.full_path}/${path}`);
  const files = await gantry.api(
    `GET /projects/${encodeURIComponent(`${group.full_path}/${path}`)}/repository/tree`,
  );
  assert.deepEqual(
    files.body.map((file: { name: string }) => file.name),
    ['.gitignore', 'LICENSE', 'README.md'],
  );
  const raw = await gantry.api(
    `GET /projects/${encodeURIComponent(`${group.full_path}/${path}`)}/repository/files/LICENSE/raw?ref=HEAD`,
  );
  assert.match(raw.text, /Copyright \(c\) \d{4} Name of user/);
});

test('shows the form again with what is wrong', async () => {
  const taken = await seedProject(gantry, { owner: id });
  await user.get('/projects/new');
  const again = await user.post('/projects', { name: '<taken>', path: taken.path, description: 'kept' });
  assert.equal(again.status, 422);
  assert.ok(again.text.includes('has already been taken'));
  assert.ok(again.text.includes('kept'));
  assert.equal((await user.post('/projects', { name: '' })).status, 422);
  const wrong = await user.post('/projects', { name: 'x', visibility: 'secret' });
  assert.equal(wrong.status, 422);
  const long = { name: 'x', description: 'y'.repeat(2001), visibility: 'private' };
  for (const readme of ['0', '1']) {
    const { status, text } = await user.post('/projects', { ...long, initialize_with_readme: readme });
    assert.deepEqual([status, text.includes(long.description)], [422, true]);
    const box = /name="initialize_with_readme" type="checkbox" value="1"( checked)?/.exec(text);
    assert.equal(box?.[1], readme === '1' ? ' checked' : undefined);
  }
});

test('refuses namespaces of others, and offers none of them', async () => {
  const other = await seedGroup(gantry, { visibility: 'private' });
  const { text } = await user.get('/projects/new');
  assert.equal(text.includes(other.full_path), false);
  const refused = await user.post('/projects', { name: unique('x'), namespace_id: String(other.id) });
  assert.equal(refused.status, 422);
  const missing = await user.post('/projects', { name: unique('x'), namespace_id: '99999999' });
  assert.equal(missing.status, 422);
});

test('offers only visibilities that the settings allow, and says when the limit is reached', async () => {
  const json = { restricted_visibility_levels: ['public'] };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
  const { text } = await user.get('/projects/new');
  assert.match(text, /value="public"[^>]* disabled/);
  assert.doesNotMatch(text, /value="internal"[^>]* disabled/);
  const restricted = await user.post('/projects', { name: unique('x'), visibility: 'public' });
  assert.equal(restricted.status, 422);
  await gantry.api(`PUT /users/${id}`, { json: { projects_limit: 1 } });
  const full = await user.post('/projects', { name: unique('x') });
  assert.deepEqual([full.status, full.text.includes('Your project limit is 1 projects!')], [422, true]);
  await gantry.api(`PUT /users/${id}`, { json: { projects_limit: 1000 } });
});

test('sends anonymous visitors to sign in, and takes no form without its token', async () => {
  const visitor = openVisitor(gantry);
  assert.match((await visitor.get('/projects/new')).location ?? '', /^\/users\/sign_in/);
  assert.equal((await visitor.post('/projects', { name: 'x' })).location, '/users/sign_in');
  assert.equal((await user.post('/projects', { name: 'x', authenticity_token: null })).status, 422);
});
