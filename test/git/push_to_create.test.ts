/** A push to a path that does not exist creates a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const push = async (path: string, token: string | null) =>
  await tryGit(tree.path, [
    'push',
    '--quiet',
    repositoryUrl(gantry.url, path, token),
    'HEAD:refs/heads/main',
  ]);

const show = async (path: string, as?: string) =>
  await gantry.api(`GET /projects/${encodeURIComponent(path)}`, as === undefined ? {} : { as });

test('creates a private project below the user name', async () => {
  const user = await seedUser(gantry);
  const path = `${user.username}/${unique('new')}`;
  const { code, stderr } = await push(path, user.token);
  assert.equal(code, 0, stderr);
  const { body } = await show(path, user.token);
  assert.deepEqual(
    [body.path_with_namespace, body.visibility, body.default_branch, body.empty_repo],
    [path, 'private', 'main', false],
  );
  assert.equal((await push(path, user.token)).code, 0, 'a second push finds it');
});

test('creates a project in a group in which the user may', async () => {
  const [master, guest] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry);
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
  await seedMember(gantry, { user: guest.id, group: group.id, access_level: 10 });
  const path = `${group.full_path}/${unique('new')}`;
  const refused = await push(path, guest.token);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /not found|could not be found/i);
  assert.equal((await show(path)).status, 404);
  assert.equal((await push(path, master.token)).code, 0);
  assert.equal((await show(path)).status, 200);
});

test('creates nothing for others: strangers, anonymous users, fetches, tokens that only read', async () => {
  const [user, other] = [await seedUser(gantry), await seedUser(gantry)];
  const reader = await seedUser(gantry, { scopes: ['read_repository'] });
  const path = `${user.username}/${unique('new')}`;
  assert.notEqual((await push(path, other.token)).code, 0);
  assert.notEqual((await push(path, null)).code, 0);
  assert.notEqual((await push(`${reader.username}/x`, reader.token)).code, 0);
  assert.notEqual((await push('missing-namespace/x', user.token)).code, 0);
  const fetched = await tryGit(tree.path, ['ls-remote', repositoryUrl(gantry.url, path, user.token)]);
  assert.notEqual(fetched.code, 0);
  for (const missing of [path, `${reader.username}/x`]) assert.equal((await show(missing)).status, 404);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const [seen, none] = [await push(hidden.full_path, user.token), await push('no/project', user.token)];
  const plain = (text: string, path: string) => text.replaceAll(path, 'PATH').replaceAll(user.token, '');
  assert.equal(plain(seen.stderr, hidden.full_path), plain(none.stderr, 'no/project'));
});

test('says why a project cannot be created', async () => {
  const user = await seedUser(gantry);
  const wrong = await push(`${user.username}/-bad`, user.token);
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.stderr, /could not be created: path/);
  await gantry.api(`PUT /users/${user.id}`, { json: { projects_limit: 0 } });
  const full = await push(`${user.username}/more`, user.token);
  assert.match(full.stderr, /Personal project creation is not allowed/);
});
