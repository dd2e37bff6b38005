import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  seedCodedWith,
  settle,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { rebaseRequest } from './rebase.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededUser;
let reporter: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, developer, reporter } = await seedCodedWith(gantry, { developer: 30, reporter: 20 }));
});
after(async () => await gantry.close());

/** Opens a request that is behind its target by one commit. */
const openBehind = async (files?: Record<string, string>): Promise<Request> => {
  const branch = `behind-${(number += 1)}`;
  await seedBranch(gantry, project, branch, files === undefined ? {} : { files });
  const request = await openRequest(gantry, project, branch);
  await seedCommit(gantry, project.id, { main: String(number) });
  await settle(gantry);
  return request;
};

const rebase = async (request: Request, as?: string) =>
  await gantry.api(`PUT ${toPath(request)}/rebase`, as === undefined ? {} : { as });

test('rebases the commits onto the target in the background', async () => {
  const request = await openBehind();
  const { status, body } = await rebase(request, developer.token);
  assert.deepEqual([status, body], [202, { rebase_in_progress: true }]);
  await settle(gantry);
  const now = await readRequest(gantry, request);
  const main = await gantry.api(`GET /projects/${project.id}/repository/branches/main`);
  const [commit] = (await gantry.api(`GET ${toPath(request)}/commits`)).body;
  assert.deepEqual([now.rebase_in_progress, now.merge_error, now.sha], [false, null, commit.id]);
  assert.deepEqual(commit.parent_ids, [main.body.commit.id]);
  assert.deepEqual(
    [commit.author_name, commit.committer_name],
    ['Ada Lovelace', `Name of ${developer.username}`],
  );
});

test('runs no pipeline for the rebased commits on request', async () => {
  const request = await openBehind({ '.gitlab-ci.yml': 'check:\n  script: ["true"]\n' });
  const newest = async (): Promise<[sha: string, status: string]> => {
    await settle(gantry);
    const list = `/projects/${project.id}/pipelines?ref=${request.source_branch}`;
    const [{ sha, status }] = (await gantry.api(`GET ${list}`)).body;
    return [sha, status];
  };
  const { status } = await gantry.api(`PUT ${toPath(request)}/rebase`, { json: { skip_ci: true } });
  const [sha, state] = await newest();
  assert.deepEqual([status, state], [202, 'skipped']);
  assert.notEqual(sha, request.sha);
  await seedCommit(gantry, project.id, { main: `again ${number}` });
  await settle(gantry);
  await rebase(request);
  const [again, its] = await newest();
  assert.notEqual(again, sha);
  assert.equal(its, 'pending');
});

test('reports conflicts and moves no branch', async () => {
  const request = await openBehind({ main: 'mine' });
  await rebase(request);
  await settle(gantry);
  const { sha, merge_error, rebase_in_progress } = await readRequest(gantry, request);
  assert.deepEqual(
    [sha, merge_error, rebase_in_progress],
    [request.sha, 'Rebase failed: there are conflicts', false],
  );
});

test('is refused for users who may not rewrite the source branch', async () => {
  const request = await openBehind();
  const refused = { message: '403 Forbidden - Cannot push to source branch' };
  assert.deepEqual((await rebase(request, reporter.token)).body, refused);
  await gantry.api(`POST /projects/${project.id}/protected_branches`, {
    json: { name: request.source_branch },
  });
  assert.deepEqual((await rebase(request)).body, refused);
});

test('is refused for a closed request', async () => {
  const request = await openBehind();
  await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } });
  assert.equal((await rebase(request)).status, 406);
});

/** Opens a request from a fork that is behind its target by one commit. */
const openFromFork = async (upstream: Coded) => {
  const owner = await seedUser(gantry);
  const fork = (await gantry.api(`POST /projects/${upstream.id}/fork`, { as: owner.token })).body;
  await settle(gantry);
  await seedBranch(gantry, fork, 'topic', { files: { topic: '1' } });
  const request = await openRequest(gantry, fork, 'topic', {
    target_project_id: upstream.id,
    as: owner.token,
  });
  const brought = await seedCommit(gantry, upstream.id, { 'only-upstream': '1' });
  await settle(gantry);
  return { owner, fork, request, brought };
};

test('moves the branch of a fork', async () => {
  const { owner, fork, request } = await openFromFork(project);
  assert.equal((await rebase(request, owner.token)).status, 202);
  await settle(gantry);
  const now = await readRequest(gantry, request);
  const { body } = await gantry.api(`GET /projects/${fork.id}/repository/branches/topic`);
  assert.deepEqual([now.merge_error, now.sha], [null, body.commit.id]);
  assert.notEqual(now.sha, request.sha);
  assert.equal(now.changes_count, '1');
});

test('copies nothing to the fork of a user who has lost access to the target', async () => {
  const upstream = await seedCoded(gantry);
  const { owner, fork, request, brought } = await openFromFork(upstream);
  const { platform } = gantry.service;
  await gantry.api(`PUT /projects/${upstream.id}`, { json: { visibility: 'private' } });
  await platform.store.write(
    async ({ db }) =>
      await db
        .updateTable('merge_requests')
        .set('rebase_in_progress', 1)
        .where('id', '=', request.id)
        .execute(),
  );
  await rebaseRequest(platform, { merge_request_id: request.id, user_id: owner.id, skip_ci: false });
  const { merge_error, rebase_in_progress } = await readRequest(gantry, request);
  assert.deepEqual([merge_error, rebase_in_progress], ['Rebase failed: it is not allowed', false]);
  const branch = await gantry.api(`GET /projects/${fork.id}/repository/branches/topic`);
  assert.equal(branch.body.commit.id, request.sha);
  const commit = await gantry.api(`GET /projects/${fork.id}/repository/commits/${brought}`);
  assert.equal(commit.status, 404);
});
