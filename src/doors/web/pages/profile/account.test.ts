/** Tests the page of the account: another user name, and deletion. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedIssue, seedProject, seedUser, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const path = '/profile/account';
const current_password = 'correct horse';

const personalNamespace = async (username: string): Promise<number> => {
  const { body } = await gantry.api(`GET /namespaces/${username}`);
  return (body as { id: number }).id;
};

test('a user changes their user name, and old addresses of their projects redirect', async () => {
  const { id, username, visitor } = await seedVisitor(gantry);
  const namespace = await personalNamespace(username);
  const project = await seedProject(gantry, { namespace, visibility: 'public' });
  const next = unique('renamed');
  const { text } = await visitor.get(path);
  assert.ok(text.includes(`name="username" type="text" value="${username}"`));
  const form = { username: next, current_password };
  const { status, location } = await visitor.post(`${path}/username`, form);
  assert.deepEqual([status, location], [303, path]);
  assert.match((await visitor.get(path)).text, new RegExp(`Your user name is ${next}\\.`));
  assert.equal((await gantry.api(`GET /users/${id}`)).body.username, next);
  assert.equal((await visitor.get(`/${project.full_path}`)).location, `/${next}/${project.path}`);
});

test('a user name is refused without the password, or if it is taken or invalid', async () => {
  const { id, username, visitor } = await seedVisitor(gantry);
  const other = await seedUser(gantry);
  const wrong = await visitor.post(`${path}/username`, { username: unique('x'), current_password: 'no' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /Current password is invalid/);
  assert.equal((await visitor.post(`${path}/username`, { username: unique('x') })).status, 422);
  for (const bad of [other.username, 'a b', '', '-', 'admin']) {
    const refused = await visitor.post(`${path}/username`, { username: bad, current_password });
    assert.equal(refused.status, 422, bad);
  }
  assert.equal((await gantry.api(`GET /users/${id}`)).body.username, username);
});

test('a user deletes their account; their contributions stay', async () => {
  const { id, username, visitor } = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'public' });
  const { iid } = await seedIssue(gantry, { project: project.id, author: id });
  const remove = async (form: Record<string, string>) => await visitor.post(`${path}/delete`, form);
  await visitor.get(path);
  assert.match((await remove({ confirm: 'other', current_password })).text, /The user name does not match/);
  assert.match(
    (await remove({ confirm: username, current_password: 'no' })).text,
    /Current password is invalid/,
  );
  assert.equal((await gantry.api(`GET /users/${id}`)).status, 200);
  const { status, location } = await remove({ confirm: username, current_password });
  assert.deepEqual([status, location], [303, '/users/sign_in']);
  assert.match((await visitor.get('/users/sign_in')).text, /Your account was deleted\./);
  assert.match((await visitor.get(path)).location ?? '', /^\/users\/sign_in/);
  assert.equal((await gantry.api(`GET /users/${id}`)).status, 404);
  const { body } = await gantry.api(`GET /projects/${project.id}/issues/${iid}`);
  assert.equal(body.author.username, 'ghost');
});

test('the only owner of a group is told which groups keep them', async () => {
  const { id, username, visitor } = await seedVisitor(gantry);
  const group = await seedGroup(gantry, { owner: id, visibility: 'private' });
  const { text } = await visitor.get(path);
  assert.ok(text.includes(`<a href="/groups/${group.full_path}">${group.full_path}</a>`));
  assert.ok(!text.includes(`${path}/delete`));
  const refused = await visitor.post(`${path}/delete`, { confirm: username, current_password });
  assert.equal(refused.status, 422);
  assert.equal((await gantry.api(`GET /users/${id}`)).status, 200);
});

test('a user without a password sets one first', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  assert.match((await visitor.get(path)).text, /Delete account/);
  await gantry.service.platform.store.write(async (tx) => {
    await tx.db.updateTable('users').set({ password_hash: null }).where('id', '=', id).execute();
  });
  const { text } = await visitor.get(path);
  assert.match(text, /Your account has no password yet/);
  assert.ok(!text.includes('Delete account'));
});
