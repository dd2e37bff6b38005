/** Renamed and moved projects: the old path redirects git and the API until another project takes it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let folder: string;
let tree: WorkTree;
let owner: SeededUser;
before(async () => {
  gantry = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'gantry-moved-'));
  tree = await newWorkTree();
  owner = await seedUser(gantry);
});
after(async () => {
  await gantry.close();
  await tree.remove();
  await rm(folder, { recursive: true, force: true });
});

const urlAt = (path: string, user: SeededUser | null = owner): string =>
  repositoryUrl(gantry.url, path, user?.token ?? null);

const project = async (attributes: object = {}): Promise<SeededProject> => {
  const made = await seedProject(gantry, { visibility: 'private', owner: owner.id, ...attributes });
  await tree.commit('More', {});
  await tree.git('push', '--quiet', urlAt(made.full_path), 'HEAD:refs/heads/main');
  return made;
};

const put = async (line: string, json: object, user = owner) => {
  const { status, body } = await gantry.api(`PUT ${line}`, { as: user.token, json });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const shown = async (path: string, user = owner, kind = 'projects') =>
  await gantry.api(`GET /${kind}/${encodeURIComponent(path)}`, { as: user.token });

const toldOf = (from: string, to: string): string =>
  [
    'remote:',
    `remote: Project '${from}' was moved to '${to}'.`,
    'remote:',
    'remote: Please update your Git remote:',
    'remote:',
    `remote:   git remote set-url origin ${gantry.url}/${to}.git`,
  ].join('\n');

/** Removes the padding of git's output lines. */
const trimmed = (text: string): string => text.replaceAll(/ +$/gm, '');

test('fetches and pushes by the old path of a project, and prints the new one', async () => {
  const { id, path, full_path } = await project();
  const renamed = unique('renamed');
  await put(`/projects/${id}`, { path: renamed });
  const now = `${owner.username}/${renamed}`;
  for (const version of ['0', '1', '2']) {
    const clone = join(folder, unique('clone'));
    const setting = ['-c', `protocol.version=${version}`];
    const cloned = await tryGit(folder, [...setting, 'clone', urlAt(full_path), clone]);
    assert.equal(cloned.code, 0, cloned.stderr);
    assert.ok(trimmed(cloned.stderr).includes(toldOf(full_path, now)), cloned.stderr);
    const head = await tree.commit('Another', {});
    const pushed = await tryGit(tree.path, [...setting, 'push', urlAt(full_path), 'HEAD:refs/heads/main']);
    assert.equal(pushed.code, 0, pushed.stderr);
    assert.ok(trimmed(pushed.stderr).includes(toldOf(full_path, now)), pushed.stderr);
    const fetched = await tryGit(clone, [...setting, 'fetch', 'origin']);
    assert.ok(trimmed(fetched.stderr).includes(toldOf(full_path, now)), fetched.stderr);
    assert.equal((await tryGit(clone, ['rev-parse', 'origin/main'])).stdout.trim(), head);
    assert.equal((await tryGit(clone, ['fsck', '--strict'])).code, 0);
  }
  const told = await tryGit(folder, ['clone', urlAt(now), join(folder, unique('clone'))]);
  assert.doesNotMatch(told.stderr, /was moved/);
  assert.equal((await shown(full_path.toUpperCase())).body.id, id);
  assert.equal((await shown(full_path)).body.path_with_namespace, now);
  await put(`/projects/${encodeURIComponent(full_path)}`, { path });
  assert.equal((await shown(now)).body.path_with_namespace, full_path, 'and back again');
});

test('gives an old path to the next project that takes it', async () => {
  const { id, path, full_path } = await project();
  await put(`/projects/${id}`, { path: unique('away') });
  const taken = await gantry.api('POST /projects', {
    as: owner.token,
    json: { name: unique('taker'), path },
  });
  assert.equal(taken.status, 201);
  assert.equal((await shown(full_path)).body.id, taken.body.id);
  assert.equal((await gantry.api(`DELETE /projects/${taken.body.id}`, { as: owner.token })).status, 202);
  assert.equal((await shown(full_path)).status, 404, 'it does not come back');
});

test('reveals no more by an old path than the project does, and removes it with the project', async () => {
  const { id, full_path } = await project();
  await put(`/projects/${id}`, { path: unique('hidden') });
  const stranger = await seedUser(gantry);
  const missing = await shown(`${owner.username}/never`, stranger);
  const hidden = await shown(full_path, stranger);
  assert.deepEqual([hidden.status, hidden.body], [404, missing.body]);
  const asked = async (path: string, user: SeededUser | null) => {
    const { code, stderr } = await tryGit(folder, ['ls-remote', urlAt(path, user)]);
    return [code, stderr.replaceAll(path, '').replaceAll(user?.token ?? ' ', '')];
  };
  for (const user of [stranger, null])
    assert.deepEqual(await asked(full_path, user), await asked(`${owner.username}/never`, user));
  assert.equal((await gantry.api(`DELETE /projects/${id}`, { as: owner.token })).status, 202);
  assert.equal((await shown(full_path)).status, 404);
  const { store } = gantry.service.platform;
  const left = await store.db
    .selectFrom('redirect_routes')
    .select('path')
    .where('source_type', '=', 'Project')
    .where('source_id', '=', id)
    .execute();
  assert.deepEqual(left, []);
});

test('redirects everything below a renamed group or user until its path is taken', async () => {
  const group = await seedGroup(gantry, { owner: owner.id });
  const inner = await seedGroup(gantry, { parent: group.id });
  const made = await project({ namespace: inner.id });
  const path = unique('regroup');
  await put(`/groups/${group.id}`, { path });
  const moved = `${path}/${inner.path}/${made.path}`;
  const cloned = await tryGit(folder, ['clone', urlAt(made.full_path), join(folder, unique('clone'))]);
  assert.ok(trimmed(cloned.stderr).includes(toldOf(made.full_path, moved)), cloned.stderr);
  assert.equal((await shown(inner.full_path, owner, 'groups')).body.full_path, `${path}/${inner.path}`);
  assert.equal((await shown(group.full_path, owner, 'namespaces')).body.full_path, path);
  const name = unique('fork');
  const fork = { namespace: inner.full_path, path: name, name };
  const forked = await gantry.api(`POST /projects/${made.id}/fork`, { as: owner.token, json: fork });
  assert.equal(forked.body.path_with_namespace, `${path}/${inner.path}/${name}`, forked.text);
  await seedGroup(gantry, { path: group.path });
  assert.equal((await shown(made.full_path)).status, 404, 'who takes the group takes what was below it');
  const { id, full_path } = await project();
  const username = unique('someone');
  await gantry.api(`PUT /users/${owner.id}`, { json: { username } });
  assert.equal((await shown(full_path)).body.id, id);
  await gantry.api(`PUT /users/${owner.id}`, { json: { username: owner.username } });
});

const transfer = async (id: number, namespace: number | string, user = owner) =>
  await gantry.api(`PUT /projects/${id}/transfer`, { as: user.token, json: { namespace } });

test('moves labels and milestones of the group with the project', async () => {
  const [from, to] = [
    await seedGroup(gantry, { owner: owner.id }),
    await seedGroup(gantry, { owner: owner.id, visibility: 'private' }),
  ];
  const made = await project({ namespace: from.id, visibility: 'public' });
  const label = { as: owner.token, json: { name: 'Group label', color: '#FF0000' } };
  assert.equal((await gantry.api(`POST /groups/${from.id}/labels`, label)).status, 201);
  const milestone = await gantry.api(`POST /groups/${from.id}/milestones`, {
    as: owner.token,
    json: { title: 'Group milestone', due_date: '2030-01-01' },
  });
  const issue = await seedIssue(gantry, { project: made.id, author: owner.id });
  const json = { labels: 'Group label', milestone_id: milestone.body.id };
  await put(`/projects/${made.id}/issues/${issue.iid}`, json);
  const { status, body } = await transfer(made.id, to.full_path);
  assert.equal(status, 200, JSON.stringify(body));
  const full_path = `${to.full_path}/${made.path}`;
  assert.deepEqual([body.path_with_namespace, body.visibility], [full_path, 'private']);
  assert.equal(body.namespace.id, to.id);
  const shownIssue = await gantry.api(`GET /projects/${made.id}/issues/${issue.iid}`, { as: owner.token });
  assert.deepEqual(shownIssue.body.labels, ['Group label']);
  const { title, project_id, due_date, id } = shownIssue.body.milestone;
  assert.deepEqual([title, project_id, due_date], ['Group milestone', made.id, '2030-01-01']);
  assert.notEqual(id, milestone.body.id);
  assert.ok(shownIssue.body.web_url.includes(full_path));
  const labels = await gantry.api(`GET /projects/${made.id}/labels`, { as: owner.token });
  assert.deepEqual(
    labels.body.map((one: { name: string; color: string }) => [one.name, one.color]),
    [['Group label', '#FF0000']],
  );
  const filtered = `GET /projects/${made.id}/issues?labels=Group%20label&milestone=Group%20milestone`;
  assert.equal((await gantry.api(filtered, { as: owner.token })).body.length, 1);
  const pushed = await tryGit(tree.path, ['push', urlAt(made.full_path), 'HEAD:refs/heads/other']);
  assert.ok(trimmed(pushed.stderr).includes(toldOf(made.full_path, full_path)), pushed.stderr);
  const home = await transfer(made.id, owner.username);
  assert.equal(home.body.path_with_namespace, `${owner.username}/${made.path}`);
});

test("makes the new namespace's owner a master of the project, and records it in the audit log", async () => {
  const group = await seedGroup(gantry, { owner: owner.id });
  const made = await project({ namespace: group.id });
  await seedMember(gantry, { user: owner.id, project: made.id, access_level: 30 });
  assert.equal((await transfer(made.id, owner.username)).status, 200);
  const member = `GET /projects/${made.id}/members/${owner.id}`;
  assert.equal((await gantry.api(member, { as: owner.token })).body.access_level, 40);
  const told = await gantry.service.platform.store.db
    .selectFrom('events')
    .select(['actor_id', 'data'])
    .where('project_id', '=', made.id)
    .where('kind', '=', 'member.updated')
    .execute();
  assert.deepEqual(
    told.map(({ actor_id, data }) => [actor_id, JSON.parse(data)]),
    [[owner.id, { user_id: owner.id, access_level: [30, 40] }]],
  );
});

test('moves a project only where its owner may create one and the name is free', async () => {
  const [from, to, foreign, secret] = [
    await seedGroup(gantry, { owner: owner.id }),
    await seedGroup(gantry, { owner: owner.id }),
    await seedGroup(gantry),
    await seedGroup(gantry, { visibility: 'private' }),
  ];
  const made = await project({ namespace: from.id });
  const stranger = await seedUser(gantry);
  await seedMember(gantry, { user: stranger.id, project: made.id, access_level: 40 });
  const failed = (text: string) => [400, { message: `Failed to transfer project ${text}` }];
  const refused = async (namespace: number | string) => {
    const { status, body } = await transfer(made.id, namespace);
    return [status, body];
  };
  const mayNot = "You don't have permission to transfer projects into that namespace.";
  assert.deepEqual(await refused(from.id), failed('Project is already in this namespace.'));
  assert.deepEqual(await refused(foreign.id), failed(mayNot));
  const missing = [404, { message: '404 Namespace Not Found' }];
  assert.deepEqual(await refused(secret.id), missing);
  assert.deepEqual(await refused(stranger.username), missing);
  assert.deepEqual(await refused(unique('nowhere')), missing);
  assert.equal((await transfer(made.id, to.id, stranger)).status, 403);
  await seedProject(gantry, { namespace: to.id, path: made.path });
  assert.deepEqual(
    await refused(to.id),
    failed('Project with same name or path in target namespace already exists'),
  );
  assert.equal((await shown(made.full_path)).body.path_with_namespace, made.full_path);
});
