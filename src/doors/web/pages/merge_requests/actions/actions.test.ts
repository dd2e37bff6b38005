/** Tests the forms of a merge request: what they do for whom, and what they refuse. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { getMatching } from '../../../../../../test/support/visitor.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let maintainer: SeededVisitor;
let reporter: SeededVisitor;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
});
after(async () => await gantry.close());

type Fresh = { request: Request; path: string; branch: string };

const fresh = async (attributes: Record<string, unknown> = {}): Promise<Fresh> => {
  const branch = `topic-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch, attributes);
  await settle(gantry);
  return { request, path: `/${project.full_path}/merge_requests/${request.iid}`, branch };
};

const shaIn = (text: string): string => /name="sha" value="([^"]+)"/.exec(text)?.[1] ?? '';

const branches = async (): Promise<string[]> => {
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/branches?per_page=100`);
  return body.map(({ name }: { name: string }) => name);
};

test('merges with the choices of the form, and only what the page showed', async () => {
  const { request, path, branch } = await fresh();
  const { text } = await maintainer.visitor.get(path);
  await seedCommit(gantry, project.id, { more: 'x' }, { branch, from: branch });
  const late = await maintainer.visitor.post(`${path}/merge`, { sha: shaIn(text) });
  assert.equal(late.status, 422);
  assert.match(late.text, /Somebody pushed to the source branch meanwhile/);
  await settle(gantry);
  const sent = {
    sha: shaIn((await maintainer.visitor.get(path)).text),
    squash: '1',
    should_remove_source_branch: '1',
    merge_commit_message: 'My merge\r\n\r\nWith a body',
    squash_commit_message: 'All in one',
  };
  assert.equal((await reporter.visitor.post(`${path}/merge`, sent)).status, 403);
  assert.equal((await maintainer.visitor.post(`${path}/merge`, sent)).location, path);
  const merged = await readRequest(gantry, request);
  assert.deepEqual([merged.state, merged.merged_by.id], ['merged', maintainer.id]);
  const commit = async (sha: string): Promise<string> =>
    (await gantry.api(`GET /projects/${project.id}/repository/commits/${sha}`)).body.message;
  assert.equal((await commit(merged.merge_commit_sha)).trim(), 'My merge\n\nWith a body');
  assert.equal((await commit(merged.squash_commit_sha)).trim(), 'All in one');
  await settle(gantry);
  assert.ok(!(await branches()).includes(branch));
  const again = await maintainer.visitor.post(`${path}/merge`, {});
  assert.deepEqual([again.status, /has changed since the page was loaded/.test(again.text)], [422, true]);
});

test('leaves unedited messages to the service', async () => {
  const { request, path } = await fresh();
  const { text } = await maintainer.visitor.get(path);
  const sent = {
    squash: '1',
    merge_commit_message: `Merge branch '${request.source_branch}' into 'main'\r\n\r\n${request.title}\r\n\r\nSee merge request ${project.full_path}!${request.iid}`,
    squash_commit_message: request.title,
  };
  assert.doesNotMatch(text, /name="squash"/);
  await maintainer.visitor.post(`${path}/merge`, sent);
  const merged = await readRequest(gantry, request);
  assert.deepEqual([merged.state, merged.squash_commit_sha], ['merged', null]);
});

test('merges when all checks pass, and cancels that', async () => {
  const { request, path, branch } = await fresh();
  const { body } = await gantry.api(`GET ${toPath(request)}`);
  await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref: branch, sha: body.sha });
  const { text } = await maintainer.visitor.get(path);
  assert.match(text, /Pipeline <a[^>]+>#\d+<\/a> is pending[\s\S]+Merge when all checks pass/);
  assert.match(text, /id="merge_box" data-part data-live=""/);
  await maintainer.visitor.post(`${path}/merge`, { auto_merge: '1', sha: shaIn(text) });
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, true);
  const waiting = (await maintainer.visitor.get(path)).text;
  assert.match(waiting, /Merges when all checks pass[\s\S]+Cancel auto-merge/);
  assert.doesNotMatch((await reporter.visitor.get(path)).text, /Cancel auto-merge/);
  assert.equal((await reporter.visitor.post(`${path}/cancel_merge`)).status, 403);
  assert.equal((await maintainer.visitor.post(`${path}/cancel_merge`)).location, path);
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, false);
  assert.equal((await maintainer.visitor.post(`${path}/cancel_merge`)).status, 422);
});

test('shows what was chosen for a scheduled merge, and merges so at once', async () => {
  const { request, path, branch } = await fresh();
  await seedCommit(gantry, project.id, { [`${branch}-2.txt`]: 'second\n' }, { branch });
  await settle(gantry);
  const { body } = await gantry.api(`GET ${toPath(request)}`);
  await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref: branch, sha: body.sha });
  const sent = {
    auto_merge: '1',
    sha: body.sha,
    squash: '1',
    should_remove_source_branch: '1',
    merge_commit_message: 'Mine <now>',
  };
  await maintainer.visitor.get(path);
  assert.equal((await maintainer.visitor.post(`${path}/merge`, sent)).location, path);
  const boxIn = (text: string): string =>
    /<section class="card merge-box[^]*?<\/section>/.exec(text)?.[0] ?? '';
  const box = boxIn((await maintainer.visitor.get(path)).text);
  assert.match(
    box,
    new RegExp(`Auto-merge set by [^<]* · squashes 2 commits · deletes <code>${branch}</code>`),
  );
  assert.match(box, /Show message[^]*Mine &lt;now&gt;/);
  const seen = boxIn((await reporter.visitor.get(path)).text);
  assert.match(seen, /squashes 2 commits/);
  assert.doesNotMatch(seen, /Merge now|Mine &lt;now&gt;/);
  const form =
    /<form method="post" action="[^"]*\/merge">[^]*?<button class="small">Merge now<\/button>/.exec(
      box,
    )?.[0] ?? '';
  const fields = Object.fromEntries(
    [...form.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  assert.deepEqual(
    [fields['sha'], fields['squash'], fields['should_remove_source_branch']],
    [body.sha, '1', '1'],
  );
  const now = { ...fields, merge_commit_message: 'Mine <now>' };
  assert.equal((await maintainer.visitor.post(`${path}/merge`, now)).location, path);
  const merged = await readRequest(gantry, request);
  assert.equal(merged.state, 'merged');
  assert.notEqual(merged.squash_commit_sha, null);
  const commit = await gantry.api(
    `GET /projects/${project.id}/repository/commits/${merged.merge_commit_sha}`,
  );
  assert.equal(commit.body.message.trim(), 'Mine <now>');
  await settle(gantry);
  assert.ok(!(await branches()).includes(branch));
});

test('a scheduled merge that must wait for its pipeline is not offered at once', async () => {
  const { request, path, branch } = await fresh();
  const { body } = await gantry.api(`GET ${toPath(request)}`);
  await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref: branch, sha: body.sha });
  await maintainer.visitor.get(path);
  await maintainer.visitor.post(`${path}/merge`, { auto_merge: '1', sha: body.sha });
  assert.match((await maintainer.visitor.get(path)).text, />Merge now</);
  const rule = { only_allow_merge_if_pipeline_succeeds: true };
  assert.equal((await gantry.api(`PUT /projects/${project.id}`, { json: rule })).status, 200);
  const { text } = await maintainer.visitor.get(path);
  await gantry.api(`PUT /projects/${project.id}`, { json: { only_allow_merge_if_pipeline_succeeds: false } });
  assert.match(text, /Cancel auto-merge/);
  assert.doesNotMatch(text, />Merge now</);
});

test('approves what was shown, and revokes that', async () => {
  const { path } = await fresh();
  await maintainer.visitor.get(path);
  const stale = await maintainer.visitor.post(`${path}/approve?sha=${'0'.repeat(40)}`);
  assert.deepEqual([stale.status, /pushed to the source branch/.test(stale.text)], [422, true]);
  assert.equal((await maintainer.visitor.post(`${path}/approve`)).location, path);
  const { text } = await maintainer.visitor.get(path);
  assert.match(text, /Approved by Name of[\s\S]+Revoke approval/);
  assert.equal((await maintainer.visitor.post(`${path}/approve`)).status, 422);
  assert.equal((await maintainer.visitor.post(`${path}/unapprove`)).location, path);
  assert.match((await maintainer.visitor.get(path)).text, /Nobody has approved yet/);
  assert.equal((await reporter.visitor.post(`${path}/approve`)).status, 403);
});

test('changes the draft state, properties and state; refuses those who may not', async () => {
  const { request, path } = await fresh({ title: 'Keep loads' });
  await maintainer.visitor.get(path);
  await maintainer.visitor.post(`${path}/draft`);
  assert.equal((await readRequest(gantry, request)).title, 'Draft: Keep loads');
  await maintainer.visitor.post(`${path}/ready`);
  await maintainer.visitor.post(path, { 'labels[]': 'bug', add_labels: 'fresh' });
  await maintainer.visitor.post(path, { 'reviewer_ids[]': '', reviewer_username: `@${maintainer.username}` });
  await maintainer.visitor.post(path, { 'assignee_ids[]': String(maintainer.id) });
  await maintainer.visitor.post(`${path}?discussion_locked=1`);
  await maintainer.visitor.post(`${path}/time`, { time_estimate: '1d', spend: '2h' });
  await maintainer.visitor.post(`${path}?state_event=close`);
  const changed = await readRequest(gantry, request);
  assert.deepEqual(
    [
      changed.title,
      changed.labels,
      changed.reviewers[0].id,
      changed.assignees[0].id,
      changed.discussion_locked,
      changed.time_stats.total_time_spent,
      changed.state,
    ],
    ['Keep loads', ['bug', 'fresh'], maintainer.id, maintainer.id, true, 7200, 'closed'],
  );
  const unknown = await maintainer.visitor.post(path, { reviewer_username: 'nobody-here' });
  assert.deepEqual([unknown.status, /does not exist/.test(unknown.text)], [422, true]);
  for (const below of ['?state_event=reopen', '/draft', '/time', '/tasks']) {
    assert.equal((await reporter.visitor.post(path + below)).status, 403, below);
  }
  await maintainer.visitor.post(`${path}/notes`, { body: '', intent: 'reopen' });
  assert.equal((await readRequest(gantry, request)).state, 'opened');
});

test('comments, starts threads, resolves them, reacts and ticks tasks', async () => {
  const { request, path } = await fresh({ description: '- [ ] one\n- [ ] two' });
  const { text } = await maintainer.visitor.get(path);
  const base = /name="base" value="([^"]+)"/.exec(text)?.[1] ?? '';
  await maintainer.visitor.post(`${path}/tasks`, { base, line: '1' });
  assert.equal((await readRequest(gantry, request)).description, '- [ ] one\n- [x] two');
  const stale = await maintainer.visitor.post(`${path}/tasks`, { base, line: '0' });
  assert.match(stale.text, /edited this merge request meanwhile/);
  const noted = await maintainer.visitor.post(`${path}/notes`, { body: 'Hello\r\nthere', intent: 'thread' });
  const note = Number(/#note_(\d+)$/.exec(noted.location ?? '')?.[1]);
  const thread =
    /discussions\/([0-9a-f]+)\/resolve/.exec((await maintainer.visitor.get(path)).text)?.[1] ?? '';
  assert.equal((await reporter.visitor.post(`${path}/discussions/${thread}/resolve`)).status, 403);
  await maintainer.visitor.post(`${path}/discussions/${thread}/resolve`);
  assert.match((await maintainer.visitor.get(path)).text, /Resolved by Name of/);
  await reporter.visitor.post(`${path}/notes`, { body: 'An answer', discussion_id: thread });
  await reporter.visitor.post(`${path}/award_emoji`, { name: 'tada', note_id: String(note) });
  assert.match((await reporter.visitor.get(path)).text, /An answer[\s\S]+|tada: 1, including yours/);
  assert.match((await maintainer.visitor.get(`${path}/notes/${note}/edit`)).text, /Edit a comment on !\d/);
  await maintainer.visitor.post(`${path}/notes/${note}`, { body: 'Changed' });
  await maintainer.visitor.post(`${path}/notes/${note}/delete`);
  assert.equal((await gantry.api(`GET ${toPath(request)}/notes/${note}`)).status, 404);
  assert.equal((await reporter.visitor.post(`${path}/notes`, { body: ' ' })).status, 422);
  await reporter.visitor.post(`${path}/subscribe`);
  assert.equal((await reporter.visitor.post(`${path}/todo`)).location, path);
});

test('rebases the source branch by a button', async () => {
  const { path, branch } = await fresh();
  await seedCommit(gantry, project.id, { [`ahead-${branch}`]: 'x' }, { branch: 'main', from: 'main' });
  assert.match(await getMatching(maintainer.visitor, path, /behind/), /1 commit behind/);
  assert.equal((await reporter.visitor.post(`${path}/rebase`)).status, 403);
  assert.equal((await maintainer.visitor.post(`${path}/rebase`)).location, path);
  // It may have ended by now.
  assert.match((await maintainer.visitor.get(path)).text, /Rebasing onto|No conflicts with/);
  await settle(gantry);
  assert.match((await maintainer.visitor.get(path)).text, /No conflicts with <code>main<\/code><\/div>/);
});

test('reverts and cherry-picks what was merged', async () => {
  const { request, path, branch } = await fresh();
  await maintainer.visitor.get(path);
  assert.equal((await maintainer.visitor.post(`${path}/revert`, { branch: 'main' })).status, 404);
  await maintainer.visitor.post(`${path}/merge`);
  const { merge_commit_sha: sha } = await readRequest(gantry, request);
  const reverted = await maintainer.visitor.post(`${path}/revert`, { branch: 'main', request: '1' });
  const name = `revert-${sha.slice(0, 8)}`;
  assert.match(reverted.location ?? '', new RegExp(`merge_requests/new\\?.+source_branch%5D=${name}`));
  const file = async (ref: string): Promise<number> =>
    (await gantry.api(`GET /projects/${project.id}/repository/files/${branch}.txt?ref=${ref}`)).status;
  assert.deepEqual([await file('main'), await file(name)], [200, 404]);
  await seedBranch(gantry, project, `old-${branch}`, { from: project.first });
  const picked = await maintainer.visitor.post(`${path}/cherry_pick`, { branch: `old-${branch}` });
  assert.deepEqual([picked.location, await file(`old-${branch}`)], [path, 200]);
  const again = await maintainer.visitor.post(`${path}/cherry_pick`, { branch: `old-${branch}` });
  assert.deepEqual([again.status, /may already have been cherry-picked/.test(again.text)], [422, true]);
  assert.equal((await maintainer.visitor.post(`${path}/revert`, { branch: ' ' })).status, 422);
  assert.equal((await reporter.visitor.post(`${path}/revert`, { branch: 'main' })).status, 403);
});

test('says why several commits without a merge commit are not reverted at once', async () => {
  const forward = await seedCoded(gantry, { visibility: 'public' }, { merge_method: 'ff' });
  const { visitor } = await seedVisitor(gantry, { project: forward.id, access_level: 40 });
  await seedBranch(gantry, forward, 'two');
  await seedCommit(gantry, forward.id, { more: 'x' }, { branch: 'two', from: 'two' });
  const { iid } = await openRequest(gantry, forward, 'two');
  await settle(gantry);
  const path = `/${forward.full_path}/merge_requests/${iid}`;
  await visitor.get(path);
  assert.equal((await visitor.post(`${path}/merge`)).status, 303);
  const { text } = await visitor.get(path);
  assert.match(text, /Its 2 commits are on the branch one by one[^<]*<a href="[^"]+\/commits">/);
  assert.ok(!text.includes(`action="${path}/revert"`));
  assert.ok(!(await openVisitor(gantry).get(path)).text.includes('one by one'));
});

test('deletes a merge request only when confirmed, and only for owners', async () => {
  const { request, path } = await fresh();
  const owner = await seedVisitor(gantry, { project: project.id, access_level: 50 });
  await owner.visitor.get(path);
  assert.equal((await owner.visitor.post(`${path}/delete`, { confirmed: '0' })).status, 422);
  assert.equal((await maintainer.visitor.post(`${path}/delete`, { confirmed: '1' })).status, 403);
  const deleted = await owner.visitor.post(`${path}/delete`, { confirmed: '1' });
  assert.equal(deleted.location, `/${project.full_path}/merge_requests`);
  assert.equal((await gantry.api(`GET ${toPath(request)}`)).status, 404);
});
