import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { finishFork } from './fork.ts';
import { openRepository } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });
const message = ({ status, body }: { status: number; body: { message: unknown } }) => [status, body.message];

const newCode = async (visibility: 'public' | 'internal' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  await gantry.api(`POST /projects/${project.id}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  return { project, sha, path: `/projects/${project.id}` };
};

test('copies branches and tags into an independent fork', async () => {
  const { project, sha, path } = await newCode();
  const user = await seedUser(gantry);
  const forked = await gantry.api(`POST ${path}/fork`, as(user));
  assert.equal(forked.status, 201, forked.text);
  const { body } = forked;
  assert.deepEqual(
    [body.path_with_namespace, body.default_branch, body.empty_repo, body.visibility],
    [`${user.username}/${project.path}`, 'main', false, 'public'],
  );
  assert.deepEqual(
    [body.forked_from_project.id, body.forked_from_project.path_with_namespace],
    [project.id, project.full_path],
  );
  const own = `/projects/${body.id}/repository`;
  const { body: branch } = await gantry.api(`GET ${own}/branches/main`, as(user));
  assert.deepEqual([branch.commit.id, branch.protected, branch.can_push], [sha, true, true]);
  assert.equal((await gantry.api(`GET ${own}/tags/v1`, as(user))).status, 200);
  await seedCommit(gantry, body.id, { mine: 'x\n' });
  assert.equal((await gantry.api(`GET ${path}/repository/files/mine/raw`)).status, 404);
  const { body: forks, headers } = await gantry.api(`GET ${path}/forks`, as(user));
  assert.deepEqual([forks.map(({ id }: { id: number }) => id), headers.get('x-total')], [[body.id], '1']);
  assert.equal((await gantry.api(`GET ${path}`)).body.forks_count, 1);
});

test('counts the forks that the caller can see', async () => {
  const { path } = await newCode();
  const [owner, other] = [await seedUser(gantry), await seedUser(gantry)];
  const fork = async (user: SeededUser, visibility: string) =>
    assert.equal((await gantry.api(`POST ${path}/fork`, { json: { visibility }, ...as(user) })).status, 201);
  await fork(owner, 'private');
  await fork(other, 'public');
  const countFor = async (as: string | null) => (await gantry.api(`GET ${path}`, { as })).body.forks_count;
  assert.deepEqual(
    [await countFor(owner.token), await countFor(other.token), await countFor(null)],
    [2, 1, 1],
  );
  const listed = await gantry.api('GET /projects?per_page=100', { as: null });
  const id = (await gantry.api(`GET ${path}`)).body.id;
  assert.equal(listed.body.find((one: { id: number }) => one.id === id).forks_count, 1);
});

test('creates a fork with the requested namespace and name', async () => {
  const { path } = await newCode('internal');
  const user = await seedUser(gantry);
  const group = await seedGroup(gantry, { owner: user.id, visibility: 'private' });
  const name = unique('other');
  const fork = async (json: object) => await gantry.api(`POST ${path}/fork`, { json, ...as(user) });
  const byId = await fork({ namespace_id: group.id, name, path: name });
  assert.deepEqual(
    [byId.status, byId.body.path_with_namespace, byId.body.visibility],
    [201, `${group.full_path}/${name}`, 'private'],
  );
  const byPath = await fork({ namespace: group.full_path });
  assert.equal(byPath.status, 201);
  const own = await fork({ visibility: 'private' });
  assert.equal(own.body.visibility, 'private');
  const taken = await fork({});
  assert.equal(taken.status, 409);
  assert.deepEqual(taken.body.message.path, ['has already been taken']);
});

test('refuses forks of unreadable projects and into foreign namespaces', async () => {
  const { project, path } = await newCode('private');
  const [stranger, guest, reporter] = [
    await seedUser(gantry),
    await seedUser(gantry),
    await seedUser(gantry),
  ];
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  const foreign = await seedGroup(gantry);
  const fork = async (user: SeededUser, json = {}) =>
    message(await gantry.api(`POST ${path}/fork`, { json, ...as(user) }));
  assert.deepEqual(await fork(stranger), [404, '404 Project Not Found']);
  assert.deepEqual(await fork(guest), [403, '403 Forbidden']);
  assert.deepEqual(await fork(reporter, { namespace: foreign.full_path }), [
    404,
    '404 Target Namespace Not Found',
  ]);
  const forked = await gantry.api(`POST ${path}/fork`, { json: { visibility: 'public' }, ...as(reporter) });
  assert.equal(forked.body.visibility, 'private');
  assert.deepEqual((await gantry.api(`GET ${path}/forks`, as(guest))).body, []);
});

test('shows the parent of a fork only to users who can see it', async () => {
  const { project, path } = await newCode('private');
  const [reporter, friend] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  const { body: fork } = await gantry.api(`POST ${path}/fork`, as(reporter));
  await seedMember(gantry, { user: friend.id, project: fork.id, access_level: 40 });
  const { body } = await gantry.api(`GET /projects/${fork.id}`, as(friend));
  assert.deepEqual([body.id, body.forked_from_project], [fork.id, undefined]);
});

test('creates an empty fork of an empty project', async () => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry);
  const { status, body } = await gantry.api(`POST /projects/${project.id}/fork`, as(user));
  assert.deepEqual([status, body.empty_repo, body.default_branch], [201, true, null]);
});

test('removes a fork relation and lets administrators create it', async () => {
  const { project, path } = await newCode();
  const user = await seedUser(gantry);
  const { body: fork } = await gantry.api(`POST ${path}/fork`, as(user));
  const own = `/projects/${fork.id}`;
  assert.equal((await gantry.api(`DELETE ${own}/fork`, as(await seedUser(gantry)))).status, 403);
  assert.equal((await gantry.api(`DELETE ${own}/fork`, as(user))).status, 204);
  assert.equal((await gantry.api(`GET ${own}`, as(user))).body.forked_from_project, undefined);
  assert.equal((await gantry.api(`DELETE ${own}/fork`, as(user))).status, 304);
  assert.equal((await gantry.api(`POST ${own}/fork/${project.id}`, as(user))).status, 403);
  const linked = await gantry.api(`POST ${own}/fork/${project.id}`);
  assert.deepEqual([linked.status, linked.body.forked_from_project.id], [201, project.id]);
  assert.deepEqual(message(await gantry.api(`POST ${own}/fork/${project.id}`)), [
    409,
    'Project already forked',
  ]);
  assert.equal((await gantry.api(`POST ${path}/fork/${fork.id}`)).status, 409);
  assert.equal((await gantry.api(`POST ${path}/fork/${project.id}`)).status, 409);
});

test('finishes a fork once after its process died', async () => {
  const { path } = await newCode();
  const user = await seedUser(gantry);
  const { body: fork } = await gantry.api(`POST ${path}/fork`, as(user));
  const { platform } = gantry.service;
  const forget = async () =>
    await platform.store.write(async ({ db }) => {
      await db
        .updateTable('projects')
        .set({ default_branch: null, repository_written: 0 })
        .where('id', '=', fork.id)
        .execute();
    });
  await forget();
  await finishFork(platform, fork.id);
  await finishFork(platform, fork.id);
  assert.equal((await gantry.api(`GET /projects/${fork.id}`)).body.default_branch, 'main');
  await (await openRepository(gantry, fork.id)).ask('repository.remove', {});
  await forget();
  await finishFork(platform, fork.id);
  assert.equal((await gantry.api(`GET /projects/${fork.id}/repository/branches/main`)).status, 200);
});

test('finishes no fork whose repository moves to another storage meanwhile', async () => {
  const { path } = await newCode();
  const { body: fork } = await gantry.api(`POST ${path}/fork`, as(await seedUser(gantry)));
  const { platform } = gantry.service;
  const set = async (columns: { default_branch?: null; repository_moving: 0 | 1 }) =>
    await platform.store.write(
      async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', fork.id).execute(),
    );
  await set({ default_branch: null, repository_moving: 1 });
  await assert.rejects(finishFork(platform, fork.id), { kind: 'unavailable' });
  assert.equal((await gantry.api(`GET /projects/${fork.id}`)).body.default_branch, null);
  await set({ repository_moving: 0 });
  await finishFork(platform, fork.id);
  assert.equal((await gantry.api(`GET /projects/${fork.id}`)).body.default_branch, 'main');
});

test('does not finish an interrupted fork if its user has lost read access', async () => {
  const { platform } = gantry.service;
  const copied = async (change: (path: string) => Promise<unknown>): Promise<boolean> => {
    const { path } = await newCode();
    const user = await seedUser(gantry);
    const { body: fork } = await gantry.api(`POST ${path}/fork`, as(user));
    await (await openRepository(gantry, fork.id)).ask('repository.remove', {});
    await platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('projects')
          .set({ default_branch: null, repository_written: 0 })
          .where('id', '=', fork.id)
          .execute(),
    );
    await change(path);
    await finishFork(platform, fork.id);
    return (await gantry.api(`GET /projects/${fork.id}`)).body.default_branch !== null;
  };
  const set = (json: object) => async (path: string) => await gantry.api(`PUT ${path}`, { json });
  assert.equal(await copied(set({ description: 'x' })), true);
  assert.equal(await copied(set({ visibility: 'private' })), false);
  assert.equal(await copied(set({ visibility: 'internal' })), false);
  assert.equal(await copied(set({ repository_access_level: 'private' })), false);
});
