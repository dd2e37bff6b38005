import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  merge,
  openFromBranch,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  seedCodedWith,
  settle,
  systemNotes,
  toPath,
  waitForCheck,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedIssue, seedMember } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { moveRefs } from '../../../code/repository/refs/move_refs.ts';
import { refreshMergeRequests } from './refresh_merge_requests.ts';
import { getRepositoryPlace } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let pusher: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, pusher } = await seedCodedWith(gantry, { pusher: 30 }));
});
after(async () => await gantry.close());

const openNew = async (attributes: Record<string, unknown> = {}, of: Coded = project): Promise<Request> => {
  const branch = `branch-${(number += 1)}`;
  const request = await openFromBranch(gantry, of, branch, attributes);
  await settle(gantry);
  return request;
};

/** Pushes one commit and runs the background work. */
const push = async (branch: string, files: Record<string, string>, message: string, of: Coded = project) => {
  const sha = await seedCommit(gantry, of.id, files, { branch, message, by: pusher.id });
  await settle(gantry);
  return sha;
};

/** Moves a branch like a push. */
const moveTo = async (branch: string, old: string, now: string, of: Coded = project): Promise<void> => {
  await moveRefs(gantry.service.platform, {
    project: await getRepositoryPlace(gantry, of.id),
    cause: { user: { id: pusher.id }, sudo_by_id: null },
    kind: 'push',
    updates: [{ ref: `refs/heads/${branch}`, old, new: now }],
  });
  await settle(gantry);
};

const versionsOf = async (request: Request) => (await gantry.api(`GET ${toPath(request)}/versions`)).body;

describe('a push to the source branch', () => {
  test('stores a version and notes the added commits', async () => {
    const request = await openNew();
    const sha = await push(request.source_branch, { a: '1' }, 'Add a\n');
    const now = await readRequest(gantry, request);
    assert.deepEqual([now.sha, now.changes_count], [sha, '2']);
    assert.ok(now.updated_at > request.updated_at);
    const [version] = await versionsOf(request);
    assert.deepEqual(await systemNotes(gantry, request), [
      `added 1 commit\n\n* ${sha.slice(0, 8)} - Add a\n\n[Compare with previous version](/${project.full_path}` +
        `/merge_requests/${request.iid}/diffs?diff_id=${version.id}&start_sha=${request.sha})`,
    ]);
  });

  test('has its effects once if it is processed twice', async () => {
    const request = await openNew();
    const sha = await push(request.source_branch, { a: '2' }, 'Change a\n');
    const ref = `refs/heads/${request.source_branch}`;
    const updates = [{ ref, old: request.sha, new: sha }];
    const moved = {
      project_id: project.id,
      user_id: pusher.id,
      kind: 'push',
      updates,
      skip_ci: false,
      sealed_options: null,
      moved_at: 0,
    };
    await refreshMergeRequests(gantry.service.platform, moved);
    assert.equal((await versionsOf(request)).length, 2);
    assert.equal((await systemNotes(gantry, request)).length, 1);
  });

  test('of a fixup commit marks it as work in progress', async () => {
    const request = await openNew();
    const sha = await push(request.source_branch, { b: '1' }, 'fixup! Add b\n');
    const now = await readRequest(gantry, request);
    assert.deepEqual([now.title, now.work_in_progress], [`WIP: ${request.title}`, true]);
    assert.equal((await systemNotes(gantry, request)).at(-1), `marked as a **Work In Progress** from ${sha}`);
  });

  test('finishes the todos of the pusher and rechecks the status', async () => {
    const request = await openNew({ assignee_id: pusher.id });
    const pending = async () =>
      (await gantry.api('GET /todos?state=pending', { as: pusher.token })).body.filter(
        ({ target }: Request) => target.id === request.id,
      ).length;
    assert.equal(await pending(), 1);
    await push(request.source_branch, { 'README.md': 'Mine\n' }, 'Take it\n');
    assert.equal(await pending(), 0);
    assert.equal((await readRequest(gantry, request)).merge_status, 'can_be_merged');
  });

  test('notes once that the branch was deleted or restored', async () => {
    const request = await openNew();
    const branch = request.source_branch;
    await moveTo(branch, request.sha, '0'.repeat(40));
    await moveTo(branch, '0'.repeat(40), request.sha);
    const updates = [{ ref: `refs/heads/${branch}`, old: '0'.repeat(40), new: request.sha }];
    const again = {
      project_id: project.id,
      user_id: pusher.id,
      kind: 'push',
      updates,
      skip_ci: false,
      sealed_options: null,
      moved_at: 0,
    };
    await refreshMergeRequests(gantry.service.platform, again);
    assert.deepEqual(await systemNotes(gantry, request), [
      `deleted source branch \`${branch}\``,
      `restored source branch \`${branch}\``,
    ]);
    assert.equal((await readRequest(gantry, request)).merge_status, 'can_be_merged');
  });

  test('of a closed request changes nothing', async () => {
    const request = await openNew();
    await gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } });
    await push(request.source_branch, { c: '1' }, 'Add c\n');
    assert.equal((await readRequest(gantry, request)).sha, request.sha);
  });
});

describe('a push to the target branch', () => {
  test('that contains the head marks the request as merged by the pusher', async () => {
    const of = await seedCoded(gantry);
    await seedMember(gantry, { user: pusher.id, project: of.id, access_level: 40 });
    const issue = await seedIssue(gantry, { project: of.id });
    const request = await openNew({ description: `Closes #${issue.iid}` }, of);
    await moveTo('main', of.first, request.sha, of);
    const now = await readRequest(gantry, request);
    assert.deepEqual(
      [now.state, now.merge_commit_sha, now.merged_by.username, now.sha],
      ['merged', null, pusher.username, request.sha],
    );
    assert.deepEqual(await systemNotes(gantry, request), ['merged']);
    assert.equal((await gantry.api(`GET /projects/${of.id}/issues/${issue.iid}`)).body.state, 'closed');
  });

  test('that contains some of its commits stores a version of the rest', async () => {
    const of = await seedCoded(gantry);
    const request = await openNew({}, of);
    await push(request.source_branch, { second: '2' }, 'Second\n', of);
    await moveTo('main', of.first, request.sha, of);
    const now = await readRequest(gantry, request);
    assert.deepEqual([now.state, now.changes_count, now.diff_refs.base_sha], ['opened', '1', request.sha]);
  });

  test('a forced push to the target branch stores a version', async () => {
    const of = await seedCoded(gantry);
    const second = await seedCommit(gantry, of.id, { second: '2' });
    await settle(gantry);
    const request = await openNew({}, of);
    assert.equal(request.diff_refs.base_sha, second);
    await moveTo('main', second, of.first, of);
    const now = await readRequest(gantry, request);
    assert.deepEqual([now.diff_refs.base_sha, now.changes_count], [of.first, '2']);
  });

  test('of other commits checks the open requests, though nobody reads them', async () => {
    const of = await seedCoded(gantry);
    const requests = [await openNew({}, of), await openNew({}, of)] as const;
    await push('main', { [`${requests[0].source_branch}.txt`]: 'conflict' }, 'Conflict\n', of);
    for (const request of requests) await waitForCheck(gantry, request);
    const { body } = await gantry.api(`GET /projects/${of.id}/merge_requests?sort=asc`);
    assert.deepEqual(
      body.map((one: { merge_status: string }) => one.merge_status),
      ['cannot_be_merged', 'can_be_merged'],
    );
  });

  test('of other commits rechecks the status and keeps `updated_at`', async () => {
    const of = await seedCoded(gantry);
    const request = await openNew({}, of);
    assert.equal(request.merge_status, 'can_be_merged');
    await push('main', { [`${request.source_branch}.txt`]: 'conflict' }, 'Conflict\n', of);
    const now = await readRequest(gantry, request);
    assert.deepEqual([now.merge_status, now.has_conflicts], ['cannot_be_merged', true]);
    assert.equal(now.updated_at, request.updated_at);
    assert.equal((await versionsOf(request)).length, 1);
  });

  test('by a merge of another request with the same commits merges both', async () => {
    const of = await seedCoded(gantry);
    const inner = await openNew({}, of);
    await seedBranch(gantry, of, 'outer', { from: inner.source_branch });
    const outer = await openRequest(gantry, of, 'outer');
    assert.equal((await merge(gantry, outer)).status, 200);
    await settle(gantry);
    assert.equal((await readRequest(gantry, inner)).state, 'merged');
  });
});

describe('commits pushed to the default branch', () => {
  const stateOf = async (of: Coded, iid: number) =>
    (await gantry.api(`GET /projects/${of.id}/issues/${iid}`)).body.state;

  test('close the referenced issues if the pusher may close them', async () => {
    const of = await seedCoded(gantry);
    await seedMember(gantry, { user: pusher.id, project: of.id, access_level: 30 });
    const closed = await seedCoded(gantry, { visibility: 'private' });
    const [issue, foreign] = [
      await seedIssue(gantry, { project: of.id }),
      await seedIssue(gantry, { project: closed.id }),
    ];
    const sha = await push(
      'main',
      { a: '1' },
      `Fixes #${issue.iid}, ${closed.full_path}#${foreign.iid}\n`,
      of,
    );
    assert.equal(await stateOf(of, issue.iid), 'closed');
    assert.equal(await stateOf(closed, foreign.iid), 'opened');
    const { body } = await gantry.api(`GET /projects/${of.id}/issues/${issue.iid}/notes`);
    assert.deepEqual(
      body.map((note: Request) => [note.body, note.author.username]),
      [[`closed via commit ${sha}`, pusher.username]],
    );
  });

  test('commits on another branch than the default branch close no issue', async () => {
    const of = await seedCoded(gantry);
    const issue = await seedIssue(gantry, { project: of.id });
    await seedBranch(gantry, of, 'side', { message: `Fixes #${issue.iid}\n` });
    await settle(gantry);
    assert.equal(await stateOf(of, issue.iid), 'opened');
  });
});
