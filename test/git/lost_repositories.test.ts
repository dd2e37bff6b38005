/** A missing repository is answered with an error: never as an empty one, never as another project's. */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { openRepository, getRepositoryPlace, seedCommit } from '../support/repositories/seed_commits.ts';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, engine, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const urlOf = (project: { full_path: string }): string =>
  repositoryUrl(gantry.url, project.full_path, rootToken);

const rootOf = (): string => join(gantry.service.platform.config.data, 'repositories/default');

const folderOf = async (project: SeededProject): Promise<string> =>
  join(rootOf(), (await openRepository(gantry, project.id)).path);

const statusOf = async (path: string): Promise<number> => (await gantry.api(`GET ${path}`)).status;

/** Responses to clients: by the API, a clone and a push. */
const answers = async (project: SeededProject) => {
  const at = `/projects/${project.id}/repository`;
  const remote = await tryGit(tree.path, ['ls-remote', urlOf(project)]);
  const push = await tryGit(tree.path, ['push', urlOf(project), 'HEAD:refs/heads/pushed']);
  return {
    tree: await statusOf(`${at}/tree`),
    branches: await statusOf(`${at}/branches`),
    archive: await statusOf(`${at}/archive.tar`),
    remote: [remote.code, /\b503\b/.test(remote.stderr)],
    push: [push.code, /\b503\b/.test(push.stderr)],
  };
};

const lost = {
  tree: 503,
  branches: 503,
  archive: 503,
  remote: [128, true],
  push: [128, true],
};

test('answers 503 for a missing repository, takes no push, and serves it whole once it is back', async () => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project), 'HEAD:refs/heads/main');
  const folder = await folderOf(project);
  renameSync(folder, `${folder}.away`);
  assert.deepEqual(await answers(project), lost);
  assert.equal(existsSync(folder), false);
  const json = { branch: 'main', commit_message: 'x', content: 'x' };
  const made = await gantry.api(`POST /projects/${project.id}/repository/files/b.txt`, { json });
  assert.equal(made.status, 503);
  const fork = await gantry.api(`POST /projects/${project.id}/fork`, {
    json: { path: 'copy', name: 'copy' },
  });
  assert.equal(fork.status, 503);
  assert.equal(existsSync(folder), false);
  renameSync(`${folder}.away`, folder);
  assert.equal(await statusOf(`/projects/${project.id}/repository/tree`), 200);
});

test('does not let a pruning fetch empty a mirror of a missing repository', async () => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project), 'HEAD:refs/heads/main');
  await tree.git('remote', 'add', 'mirrored', urlOf(project));
  await tree.git('remote', 'update', 'mirrored');
  const folder = await folderOf(project);
  renameSync(folder, `${folder}.away`);
  const { code } = await tryGit(tree.path, ['remote', 'update', '--prune', 'mirrored']);
  assert.notEqual(code, 0);
  assert.notEqual(await tree.git('rev-parse', 'refs/remotes/mirrored/main'), '');
});

/** Restores an older database: the project is unknown, and its id is free again. */
const forget = async ({ id, full_path }: { id: number; full_path: string }): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db }) => {
    await sql`delete from routes where path = ${full_path}`.execute(db);
    await sql`delete from members where source_type = 'Project' and source_id = ${id}`.execute(db);
    await sql`delete from events where project_id = ${id}`.execute(db);
    await sql`delete from projects where id = ${id}`.execute(db);
    await (
      engine === 'sqlite'
        ? sql`update sqlite_sequence set seq = ${id - 1} where name = 'projects'`
        : sql`select setval(pg_get_serial_sequence('projects', 'id'), ${id}, false)`
    ).execute(db);
  });
};

const newProject = async (name: string): Promise<{ id: number; full_path: string }> => {
  const { status, body, text } = await gantry.api('POST /projects', { json: { name } });
  assert.equal(status, 201, text);
  return { id: body.id, full_path: body.path_with_namespace };
};

const makers = {
  'an earlier version': async () => await seedProject(gantry, { path: 'private-old' }),
  'this version': async () => await newProject('private-new'),
};

for (const [version, make] of Object.entries(makers)) {
  test(`gives a project with the id of a lost one of ${version} nothing of its repository`, async () => {
    const { id, full_path } = await make();
    const sha = await seedCommit(gantry, id, { 'secret.txt': 'secret' });
    await gantry.service.worker.drain();
    assert.equal((await getRepositoryPlace(gantry, id)).repository_written, 1);
    await forget({ id, full_path });
    const other = await newProject(`stranger-of-${full_path.replace('root/', '')}`);
    assert.equal(other.id, id);
    const isHidden = async (): Promise<void> => {
      assert.equal(await statusOf(`/projects/${id}/repository/commits/${sha}`), 404);
      assert.equal(await statusOf(`/projects/${id}/repository/files/secret.txt/raw?ref=main`), 404);
    };
    await isHidden();
    assert.equal((await tryGit(tree.path, ['ls-remote', urlOf(other)])).stdout, '');
    const { code, stderr } = await tryGit(tree.path, ['push', urlOf(other), 'HEAD:refs/heads/main']);
    assert.equal(code, 0, stderr);
    await isHidden();
  });
}
