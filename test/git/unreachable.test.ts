/** The API does not return objects that no visible ref reaches, by any id. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

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

const push = async (project: SeededProject, ...refs: string[]): Promise<void> =>
  void (await tree.git('push', '--quiet', repositoryUrl(gantry.url, project.full_path, rootToken), ...refs));

type Gone = { project: SeededProject; commit: string; blob: string };

/** A commit with a secret on a branch that is deleted. */
const withGone = async (keep: (gone: Gone) => Promise<unknown> = async () => undefined): Promise<Gone> => {
  const project = await seedProject(gantry);
  await tree.git('checkout', '--quiet', '--detach', 'main');
  const commit = await tree.commit('Secret', { pw: `secret of ${project.id}\n` });
  const gone = { project, commit, blob: await tree.git('rev-parse', `${commit}:pw`) };
  await push(project, 'main', `${commit}:refs/heads/topic`);
  await keep(gone);
  await push(project, ':refs/heads/topic');
  return gone;
};

const statuses = async ({ project, commit, blob }: Gone, as: string | null): Promise<Set<number>> => {
  const paths = [
    `commits/${commit}`,
    `commits/${commit}/diff`,
    `files/pw/raw?ref=${commit}`,
    `tree?ref=${commit}`,
    `archive.tar?sha=${commit}`,
    `compare?from=main&to=${commit}`,
    `commits?ref_name=${commit.toUpperCase()}`,
    `blobs/${blob}`,
    `blobs/${blob}/raw`,
  ];
  const replies = paths.map(
    async (path) => (await gantry.api(`GET /projects/${project.id}/repository/${path}`, { as })).status,
  );
  return new Set(await Promise.all(replies));
};

test('hides commits and blobs of a deleted branch, and creates no branch from them', async () => {
  const gone = await withGone(async (there) => {
    assert.deepEqual(await statuses(there, null), new Set([200]));
  });
  assert.deepEqual(await statuses(gone, null), new Set([404]));
  assert.deepEqual(await statuses(gone, rootToken), new Set([404]));
  const json = { branch: 'again', ref: gone.commit };
  const made = await gantry.api(`POST /projects/${gone.project.id}/repository/branches`, { json });
  assert.equal(made.status, 400);
  const first = await gantry.api(`GET /projects/${gone.project.id}/repository/commits/main~0`);
  assert.equal(first.status, 404);
});

test('keeps the commits of a merge request for users who may read it', async () => {
  const gone = await withGone(async ({ project }) => {
    const json = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
    assert.equal((await gantry.api(`POST /projects/${project.id}/merge_requests`, { json })).status, 201);
  });
  assert.deepEqual(await statuses(gone, null), new Set([200]));
  const json = { merge_requests_access_level: 'private' };
  assert.equal((await gantry.api(`PUT /projects/${gone.project.id}`, { json })).status, 200);
  assert.deepEqual(await statuses(gone, null), new Set([404]));
  assert.deepEqual(await statuses(gone, rootToken), new Set([200]));
});

test('keeps the commit of a pipeline for users who may read it', async () => {
  const gone = await withGone(async ({ project, commit }) => {
    const json = { state: 'success' };
    assert.equal((await gantry.api(`POST /projects/${project.id}/statuses/${commit}`, { json })).status, 201);
  });
  const path = `/projects/${gone.project.id}/repository/commits/${gone.commit}`;
  assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 200);
  const json = { public_builds: false };
  assert.equal((await gantry.api(`PUT /projects/${gone.project.id}`, { json })).status, 200);
  assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 404);
  assert.equal((await gantry.api(`GET ${path}`)).status, 200);
});
