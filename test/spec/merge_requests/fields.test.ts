/** API document: the merge request record, alone, in lists, in todos; behaviour book 3, 3.3, 6; clients' extra fields. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedUser } from '../../support/seed.ts';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
let request: MergeRequest;
let milestone: { id: number; iid: number; title: string };

before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
  milestone = await world.milestone(team.id);
  request = await world.open(
    team.id,
    { milestone_id: milestone.id, assignee_id: team.reporter.id, labels: 'b,a', description: 'Why' },
    team.developer.token,
  );
});
after(async () => await world.close());

const inOrder = [
  'id',
  'iid',
  'project_id',
  'title',
  'description',
  'state',
  'created_at',
  'updated_at',
  'target_branch',
  'source_branch',
  'upvotes',
  'downvotes',
  'author',
  'assignee',
  'source_project_id',
  'target_project_id',
  'labels',
  'work_in_progress',
  'milestone',
  'merge_when_pipeline_succeeds',
  'merge_status',
  'sha',
  'merge_commit_sha',
  'user_notes_count',
  'should_remove_source_branch',
  'force_remove_source_branch',
  'web_url',
  'time_stats',
];

const newer = [
  'assignees',
  'reviewers',
  'draft',
  'squash_commit_sha',
  'merged_at',
  'merged_by',
  'merge_user',
  'closed_at',
  'closed_by',
  'squash',
  'squash_on_merge',
  'prepared_at',
  'discussion_locked',
  'has_conflicts',
  'references',
  'diff_refs',
  'changes_count',
  'task_completion_status',
  'rebase_in_progress',
  'merge_error',
  'detailed_merge_status',
];

const userOf = ({ id, username }: { id: number; username: string }, { avatar_url }: MergeRequest) => ({
  id,
  name: `Name of ${username}`,
  username,
  state: 'active',
  avatar_url,
  web_url: `${world.url.replace('/api/v4', '')}/${username}`,
});

describe('one merge request', () => {
  it('has the fields of the document in their order, then the newer ones', () => {
    assert.deepEqual(Object.keys(request), [
      ...inOrder,
      ...newer,
      'subscribed',
      'user',
      'blocking_discussions_resolved',
      'head_pipeline',
      'pipeline',
    ]);
  });
  it('has them with their values', () => {
    const { author, assignee, milestone: shown, created_at, updated_at, sha, diff_refs, ...rest } = request;
    assert.deepEqual(author, userOf(team.developer, author));
    assert.deepEqual(assignee, userOf(team.reporter, assignee));
    assert.deepEqual([shown.id, shown.iid, shown.project_id], [milestone.id, milestone.iid, team.id]);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(updated_at, created_at);
    assert.match(sha, /^[0-9a-f]{40}$/);
    assert.deepEqual(Object.keys(diff_refs), ['base_sha', 'head_sha', 'start_sha']);
    assert.equal(diff_refs.head_sha, sha);
    const { id, iid, source_branch, web_url, assignees, prepared_at, ...others } = rest;
    assert.equal(prepared_at, created_at);
    assert.ok(id > 0 && iid === 1 && source_branch.startsWith('feature-'));
    assert.ok(web_url.endsWith(`/${team.full_path}/merge_requests/1`));
    assert.deepEqual(assignees, [assignee]);
    assert.deepEqual(others, {
      project_id: team.id,
      title: 'A change',
      description: 'Why',
      state: 'opened',
      target_branch: 'main',
      upvotes: 0,
      downvotes: 0,
      source_project_id: team.id,
      target_project_id: team.id,
      labels: ['a', 'b'],
      work_in_progress: false,
      merge_when_pipeline_succeeds: false,
      merge_status: 'can_be_merged',
      merge_commit_sha: null,
      user_notes_count: 0,
      should_remove_source_branch: null,
      force_remove_source_branch: false,
      time_stats: {
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
      },
      reviewers: [],
      draft: false,
      detailed_merge_status: 'mergeable',
      squash_commit_sha: null,
      merged_at: null,
      merged_by: null,
      merge_user: null,
      closed_at: null,
      closed_by: null,
      squash: false,
      squash_on_merge: false,
      discussion_locked: null,
      has_conflicts: false,
      references: { short: '!1', relative: '!1', full: `${team.full_path}!1` },
      changes_count: '1',
      task_completion_status: { count: 0, completed_count: 0 },
      head_pipeline: null,
      pipeline: null,
      rebase_in_progress: false,
      merge_error: null,
      subscribed: true,
      user: { can_merge: false },
      blocking_discussions_resolved: true,
    });
  });
  it('is answered alike by GET, by iid and by the project’s path', async () => {
    assert.deepEqual((await world.get(request, '', team.developer.token)).body, request);
    const path = encodeURIComponent(team.full_path);
    const reply = await world.api(`GET /projects/${path}/merge_requests/1`, { as: team.developer.token });
    assert.deepEqual(reply.body, request);
  });
  it('shows who is subscribed and who may merge', async () => {
    const seen = async (as: string) => {
      const { subscribed, user } = (await world.get(request, '', as)).body;
      return [subscribed, user.can_merge];
    };
    assert.deepEqual(await seen(team.reporter.token), [true, false]);
    assert.deepEqual(await seen(team.master.token), [false, true]);
    assert.deepEqual(await seen(team.stranger.token), [false, false]);
  });
  it('in a list it has neither', async () => {
    const { body } = await world.api(`GET /projects/${team.id}/merge_requests`);
    const { subscribed: _s, user: _u, blocking_discussions_resolved: _b, ...rest } = request;
    const { head_pipeline: _h, pipeline: _p, ...listed } = rest;
    assert.deepEqual(body, [listed]);
  });
  it('conflicts show', async () => {
    const files = (text: string) => ({ files: { 'README.md': text } });
    const { seedCommit } = await import('../../support/repositories/seed_commits.ts');
    const own = await world.codeTeam();
    await seedCommit(world.gantry, own.id, files('ours').files, { branch: 'other', from: 'main' });
    await seedCommit(world.gantry, own.id, files('theirs').files);
    const made = await world.open(own.id, { source_branch: 'other' });
    const { merge_status, has_conflicts, detailed_merge_status } = made;
    assert.deepEqual(
      [merge_status, has_conflicts, detailed_merge_status],
      ['cannot_be_merged', true, 'conflict'],
    );
    const { body } = await world.api(`GET /projects/${own.id}/merge_requests`);
    assert.equal(body[0].has_conflicts, true);
  });
  it('a merged request shows by whom and when', async () => {
    const own = await world.codeTeam();
    const open = await world.open(own.id);
    const { body } = await world.api(`PUT ${pathOf(open)}/merge`, { as: own.master.token });
    assert.deepEqual([body.merged_by.id, body.merge_user.id], [own.master.id, own.master.id]);
    assert.match(body.merged_at, /Z$/);
    assert.match(body.merge_commit_sha, /^[0-9a-f]{40}$/);
    assert.equal(body.state, 'merged');
  });
  it('is polled: ETag, 304, and a new one after a change', async () => {
    const own = await world.open(team.id);
    const first = await world.get(own);
    const etag = first.headers.get('etag')!;
    const again = async () => await world.api(`GET ${pathOf(own)}`, { headers: { 'if-none-match': etag } });
    assert.equal((await again()).status, 304);
    await world.put(own, { title: 'Changed' });
    assert.equal((await again()).status, 200);
  });
});

describe('visibility', () => {
  it('401, 404 if hidden or missing, 403 for a user who cannot read the code', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const one = await world.seeded({ project: hidden.id });
    const reply = async (as: string | null) => answer(await world.api(`GET ${pathOf(one)}`, { as }));
    assert.deepEqual(await reply(null), [401, { message: '401 Unauthorized' }]);
    assert.deepEqual(await reply(hidden.stranger.token), [404, { message: '404 Project Not Found' }]);
    assert.deepEqual(await reply(hidden.guest.token), [403, { message: '403 Forbidden' }]);
    assert.equal((await world.api(`GET ${pathOf(one)}`, { as: hidden.reporter.token })).status, 200);
    const missing = await world.get({ project_id: team.id, iid: 99_999 });
    assert.deepEqual(answer(missing), [404, { message: '404 Not found' }]);
    const bad = await world.api(`GET /projects/${team.id}/merge_requests/x`);
    assert.deepEqual(answer(bad), [400, { message: { merge_request_iid: ['is invalid'] } }]);
  });
  it('an author who has left no longer sees it', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const author = await seedUser(world.gantry);
    const one = await world.seeded({ project: hidden.id, author: author.id, assignees: [author.id] });
    assert.equal((await world.get(one, '', author.token)).status, 404);
  });
});

describe('texts of titles that mean a draft', () => {
  for (const [title, isDraft] of [
    ['WIP: x', true],
    ['wip x', true],
    ['wip\u2003x', true],
    ['wip\u3000x', true],
    ['[WIP] x', true],
    ['Draft: x', true],
    ['[draft] x', true],
    ['(Draft) x', true],
    ['Drafty x', false],
    ['wiper x', false],
    ['x WIP:', false],
  ] as const) {
    it(`${title}: ${isDraft}`, async () => {
      const one = await world.seeded({ project: team.id, title });
      const { body } = await world.get(one);
      assert.deepEqual([body.work_in_progress, body.draft], [isDraft, isDraft]);
      const listed = await world.api(`GET /projects/${team.id}/merge_requests?iids=${one.iid}&wip=yes`);
      assert.equal(listed.body.length, isDraft ? 1 : 0);
    });
  }
});

describe('as the target of a todo', () => {
  it('POST todo: 201 with the record, 304 while one is pending', async () => {
    const one = await world.open(team.id);
    const { status, body } = await world.api(`POST ${pathOf(one)}/todo`);
    assert.equal(status, 201);
    const { target, project, author, id, created_at, target_url, ...rest } = body;
    assert.deepEqual(rest, {
      action_name: 'marked',
      target_type: 'MergeRequest',
      body: one.title,
      state: 'pending',
    });
    assert.equal(target_url, one.web_url);
    assert.equal(author.id, 1);
    assert.ok(id > 0 && created_at.endsWith('Z'));
    assert.deepEqual(Object.keys(project), [
      'id',
      'name',
      'name_with_namespace',
      'path',
      'path_with_namespace',
    ]);
    const { user: _u, blocking_discussions_resolved: _b, ...own } = one;
    const { head_pipeline: _h, pipeline: _p, ...shown } = own;
    assert.deepEqual(target, shown);
    const again = await world.api(`POST ${pathOf(one)}/todo`);
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.deepEqual((await world.get(one)).body.updated_at, one.updated_at);
    const listed = await world.api('GET /todos?type=MergeRequest&per_page=100');
    assert.deepEqual(listed.body.find((todo: { id: number }) => todo.id === id).target, target);
    assert.equal((await world.api(`POST /todos/${id}/mark_as_done`)).body.state, 'done');
    assert.equal((await world.api(`POST ${pathOf(one)}/todo`)).status, 201);
  });
  it('needs to read it: 403 for guests of a private project', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const one = await world.seeded({ project: hidden.id });
    assert.equal((await world.api(`POST ${pathOf(one)}/todo`, { as: hidden.guest.token })).status, 403);
  });
  it('a todo on a hidden merge request is not listed', async () => {
    const own = await world.team();
    const one = await world.seeded({ project: own.id });
    await world.api(`POST ${pathOf(one)}/todo`, { as: own.guest.token });
    const count = async () => (await world.api('GET /todos', { as: own.guest.token })).body.length;
    assert.equal(await count(), 1);
    await world.setProject(own.id, { visibility: 'private' });
    assert.equal(await count(), 0);
  });
});
