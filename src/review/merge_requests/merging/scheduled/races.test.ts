/** Tests what happens between the schedule of a merge and the merge: a cancellation, a push, a change of settings. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../test/support/ci/jobs.ts';
import { openRepository, seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedGroup, seedMember, seedUser } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openCallWithoutRequest } from '../../../../core/access/call_without_request.ts';
import type { Platform } from '../../../../core/platform.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../../find.ts';
import { refreshMergeRequests } from '../../refresh/refresh_merge_requests.ts';
import { getMerger } from '../merge.ts';
import { mergeScheduled } from './auto_merge.ts';
import { deferMerge } from './merge_when_pipeline_succeeds.ts';

let gantry: TestService;
let project: Coded;
let other: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, {}, { only_allow_merge_if_all_discussions_are_resolved: 1 });
  other = await seedUser(gantry);
  await seedMember(gantry, { user: other.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const open = async (more: { target_branch?: string; title?: string } = {}): Promise<Request> => {
  const branch = `race-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch, more);
  await settle(gantry);
  return request;
};

const addThread = async (request: Request): Promise<void> => {
  const { status } = await gantry.api(`POST ${toPath(request)}/discussions`, { json: { body: 'Why?' } });
  assert.equal(status, 201);
};

/** Schedules a merge that waits. */
const schedule = async (request: Request, json: object = {}, as?: string): Promise<void> => {
  const { status, body } = await merge(gantry, request, { auto_merge: true, ...json }, as);
  assert.deepEqual([status, body.merge_when_pipeline_succeeds], [200, true]);
  await settle(gantry);
};

const load = async ({ id }: Request): Promise<LoadedMergeRequest> => {
  const { db } = gantry.service.platform.store;
  const loaded = await loadProject(db, project.id);
  assert.ok(loaded !== null);
  return await reloadMergeRequest(db, loaded, id);
};

/** Moves the source branch like a push whose background work has not run yet. */
const pushUnheard = async ({ source_branch, sha }: Request): Promise<string> => {
  const next = `${source_branch}-next`;
  const files = { unheard: source_branch };
  const pushed = await seedCommit(gantry, project.id, files, { branch: next, from: source_branch });
  await settle(gantry);
  const repository = await openRepository(gantry, project.id);
  await repository.ask('refs.update', {
    updates: [{ ref: `refs/heads/${source_branch}`, old: sha, new: pushed }],
  });
  return pushed;
};

test('does not merge after it was canceled, though the checks had passed before', async () => {
  const request = await open({ title: 'Draft: x' });
  await schedule(request);
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('merge_requests').set({ title: 'x' }).where('id', '=', request.id).execute(),
  );
  const loaded = await load(request);
  const path = `PUT ${toPath(request)}/cancel_merge_when_pipeline_succeeds`;
  assert.equal((await gantry.api(path)).status, 200);
  await mergeScheduled(gantry.service.platform, loaded, request.sha);
  assert.equal((await readRequest(gantry, request)).state, 'opened');
});

test('merges in the name and with the message of the latest schedule', async () => {
  const request = await open({ title: 'Draft: x' });
  await schedule(request, { merge_commit_message: 'first' });
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('merge_requests').set({ title: 'x' }).where('id', '=', request.id).execute(),
  );
  const loaded = await load(request);
  await addThread(request);
  await schedule(request, { merge_commit_message: 'second' }, other.token);
  await gantry.service.platform.store.write(
    async ({ db }) => await db.deleteFrom('notes').where('target_id', '=', request.id).execute(),
  );
  await mergeScheduled(gantry.service.platform, loaded, request.sha);
  assert.equal((await readRequest(gantry, request)).state, 'opened');
  await mergeScheduled(gantry.service.platform, await load(request), request.sha);
  const { merged_by, merge_commit_sha } = await readRequest(gantry, request);
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/commits/${merge_commit_sha}`);
  assert.deepEqual([merged_by.id, body.message.trim()], [other.id, 'second']);
});

test('is canceled by a push that the push of the target reveals first', async () => {
  const target_branch = `target-${(number += 1)}`;
  const old = await seedBranch(gantry, project, target_branch);
  const request = await open({ target_branch });
  await addThread(request);
  await schedule(request);
  const moved = await seedCommit(
    gantry,
    project.id,
    { forced: 'x' },
    { branch: target_branch, onto: project.first },
  );
  const pushed = await pushUnheard(request);
  await settle(gantry);
  await refreshMergeRequests(gantry.service.platform, {
    kind: 'push',
    project_id: project.id,
    user_id: 1,
    skip_ci: false,
    sealed_options: null,
    moved_at: 0,
    updates: [
      { ref: `refs/heads/${target_branch}`, old, new: moved },
      { ref: `refs/heads/${request.source_branch}`, old: request.sha, new: pushed },
    ],
  });
  const { sha, merge_when_pipeline_succeeds } = await readRequest(gantry, request);
  assert.deepEqual([sha, merge_when_pipeline_succeeds], [pushed, false]);
});

/** A platform that calls `first` before its first transaction begins. */
const runFirst = (platform: Platform, first: () => Promise<void>): Platform => {
  let isDone = false;
  const store = Object.create(platform.store) as Platform['store'];
  store.write = async (work) => {
    if (!isDone) {
      isDone = true;
      await first();
    }
    return await platform.store.write(work);
  };
  return { ...platform, store };
};

test('does not schedule the merge of commits that were pushed meanwhile', async () => {
  const request = await open({ title: 'Draft: x' });
  const { platform } = gantry.service;
  const cause = { user: { id: other.id }, sudo_by_id: null };
  const call = await openCallWithoutRequest(platform, { cause, baseUrl: 'http://gantry.example' });
  assert.ok(call !== null);
  const loaded = await load(request);
  const late = runFirst(platform, async () => {
    await seedCommit(gantry, project.id, { late: 'x' }, { branch: request.source_branch });
    await settle(gantry);
  });
  const params = { sha: request.sha, auto_merge_strategy: 'merge_when_checks_pass' as const };
  const attempt = { platform: late, loaded, merger: getMerger(call), params };
  await assert.rejects(deferMerge(attempt), { message: /SHA does not match/ });
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, false);
});

test('merges once the project no longer requires what it waits for', async () => {
  const waiting = await open();
  await addThread(waiting);
  await schedule(waiting);
  const set = async (json: object): Promise<void> => {
    assert.equal((await gantry.api(`PUT /projects/${project.id}`, { json })).status, 200);
    await settle(gantry);
  };
  await set({ description: 'other words' });
  assert.equal((await readRequest(gantry, waiting)).state, 'opened');
  await set({ only_allow_merge_if_all_discussions_are_resolved: false });
  assert.equal((await readRequest(gantry, waiting)).state, 'merged');
  await set({ only_allow_merge_if_all_discussions_are_resolved: true });
});

test('merges what became ready while the project was archived', async () => {
  const request = await open({ title: 'Draft: x' });
  await schedule(request);
  await gantry.api(`POST /projects/${project.id}/archive`);
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('merge_requests').set({ title: 'x' }).where('id', '=', request.id).execute(),
  );
  await settle(gantry);
  await gantry.api(`POST /projects/${project.id}/unarchive`);
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).state, 'merged');
});

test('merges once its failed pipeline is deleted', async () => {
  const request = await open();
  const { source_branch: ref, sha } = request;
  const { id } = await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref, sha });
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('pipelines').set({ status: 'failed' }).where('id', '=', id).execute(),
  );
  await schedule(request);
  assert.equal((await gantry.api(`DELETE /projects/${project.id}/pipelines/${id}`)).status, 204);
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).state, 'merged');
});

test('merges once its user has a role again, or is no longer blocked', async () => {
  const member = `/projects/${project.id}/members/${other.id}`;
  const changes: [lose: string, loseJson: object | null, regain: string, regainJson: object | null][] = [
    [`PUT ${member}`, { access_level: 20 }, `PUT ${member}`, { access_level: 40 }],
    [
      `DELETE ${member}`,
      null,
      `POST /projects/${project.id}/members`,
      { user_id: other.id, access_level: 40 },
    ],
    [`POST /users/${other.id}/block`, null, `POST /users/${other.id}/unblock`, null],
  ];
  for (const [lose, loseJson, regain, regainJson] of changes) {
    const request = await open({ title: 'Draft: x' });
    await schedule(request, {}, other.token);
    const run = async (line: string, json: object | null): Promise<void> => {
      const { status, text } = await gantry.api(line, json === null ? {} : { json });
      assert.ok(status < 300, text);
      await settle(gantry);
    };
    await run(lose, loseJson);
    await run(`PUT ${toPath(request)}`, { title: 'x' });
    assert.equal((await readRequest(gantry, request)).state, 'opened', lose);
    await run(regain, regainJson);
    assert.equal((await readRequest(gantry, request)).state, 'merged', regain);
  }
});

test('merges once its user has a role by a share with a group, or by a move', async () => {
  const [home, invited, parent] = [await seedGroup(gantry), await seedGroup(gantry), await seedGroup(gantry)];
  const coded = await seedCoded(gantry, { namespace: home.id });
  const user = await seedUser(gantry);
  for (const { id: group } of [invited, parent])
    await seedMember(gantry, { user: user.id, group, access_level: 40 });
  const [projectPath, groupPath] = [`/projects/${coded.id}`, `/groups/${home.id}`];
  const share = { group_id: invited.id, group_access: 40 };
  const run = async (line: string, json: object = {}): Promise<void> => {
    const { status, text } = await gantry.api(line, { json });
    assert.ok(status < 300, `${line}: ${text}`);
    await settle(gantry);
  };
  const changes: [gain: string, json: object, lose: string, json: object][] = [
    [`POST ${projectPath}/share`, share, `DELETE ${projectPath}/share/${invited.id}`, {}],
    [`POST ${groupPath}/share`, share, `DELETE ${groupPath}/share/${invited.id}`, {}],
    [
      `PUT ${projectPath}/transfer`,
      { namespace: parent.id },
      `PUT ${projectPath}/transfer`,
      { namespace: home.id },
    ],
    [`POST ${groupPath}/transfer`, { group_id: parent.id }, `POST ${groupPath}/transfer`, {}],
  ];
  for (const [gain, gainJson, lose, loseJson] of changes) {
    await run(`POST ${projectPath}/members`, { user_id: user.id, access_level: 40 });
    const branch = `place-${(number += 1)}`;
    await seedBranch(gantry, coded, branch);
    const request = await openRequest(gantry, coded, branch, { title: 'Draft: x' });
    await settle(gantry);
    await schedule(request, {}, user.token);
    await run(`DELETE ${projectPath}/members/${user.id}`);
    await run(`PUT ${toPath(request)}`, { title: 'x' });
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    await run(gain, gainJson);
    assert.equal((await readRequest(gantry, request)).state, 'merged', gain);
    await run(lose, loseJson);
  }
});
