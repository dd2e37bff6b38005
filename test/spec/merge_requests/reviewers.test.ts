/** Reviewers of merge requests: requests for review, notifications, and list filters. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedMember, seedUser } from '../../support/seed.ts';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import { type Team, answer, sortedIids } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam({ namespace: (await seedGroup(world.gantry)).id });
});
after(async () => await world.close());

const open = async (fields: object = {}): Promise<MergeRequest> => await world.open(team.id, fields);
const put = async (request: MergeRequest, json: object, as?: string) =>
  await world.api(`PUT ${pathOf(request)}`, { json, ...(as !== undefined && { as }) });
const comment = async (request: MergeRequest, body: string, as?: string) =>
  await world.api(`POST ${pathOf(request)}/notes`, { json: { body }, ...(as !== undefined && { as }) });
const show = async (request: MergeRequest) => (await world.api(`GET ${pathOf(request)}`)).body;

const usernames = ({ reviewers }: { reviewers: { username: string }[] }): string[] =>
  reviewers.map(({ username }) => username);
const states = async (request: MergeRequest): Promise<string[]> => {
  const { body } = await world.api(`GET ${pathOf(request)}/reviewers`);
  return body.map(
    ({ user, state }: { user: { username: string }; state: string }) => `${user.username} ${state}`,
  );
};
const requestTodos = async ({ iid }: MergeRequest, as: string): Promise<number> => {
  const { body } = await world.api('GET /todos?action=review_requested', { as });
  return body.filter(({ target }: { target: MergeRequest }) => target.iid === iid).length;
};

describe('reviewer_ids', () => {
  it('requests reviews on creation; shown alone, in lists and todos, with a note and a todo', async () => {
    const { developer, reporter, master } = team;
    const request = await open({ reviewer_ids: [reporter.id, developer.id] });
    assert.deepEqual(usernames(request), [reporter.username, developer.username]);
    assert.deepEqual(Object.keys(request.reviewers[0]), Object.keys(request.author));
    const list = await world.api(`GET /projects/${team.id}/merge_requests?iids[]=${request.iid}`);
    assert.deepEqual(list.body[0].reviewers, request.reviewers);
    assert.deepEqual(await states(request), [
      `${reporter.username} unreviewed`,
      `${developer.username} unreviewed`,
    ]);
    assert.equal(await requestTodos(request, reporter.token), 1);
    assert.equal(await requestTodos(request, master.token), 0);
  });

  it('replaces reviewers; 0 or nothing clears; absent keeps them; each change has a note', async () => {
    const { developer, reporter, master } = team;
    const request = await open({ reviewer_ids: [developer.id] });
    const changed = await put(request, { reviewer_ids: [master.id, reporter.id] });
    assert.deepEqual(usernames(changed.body), [master.username, reporter.username]);
    assert.deepEqual(usernames((await put(request, { title: 'Other' })).body), [
      master.username,
      reporter.username,
    ]);
    const before = (await show(request)).updated_at;
    await put(request, { reviewer_ids: [reporter.id, master.id] });
    assert.equal((await show(request)).updated_at, before);
    assert.deepEqual(usernames((await put(request, { reviewer_ids: [0] })).body), []);
    await put(request, { reviewer_ids: [reporter.id] });
    const cleared = await world.api(`PUT ${pathOf(request)}`, { form: 'reviewer_ids=' });
    assert.deepEqual([cleared.status, cleared.body.reviewers], [200, []]);
    assert.deepEqual(
      (await world.requestNotes(request)).filter((note) => note.includes('review')),
      [
        `requested review from @${master.username} and @${reporter.username} and removed review request for @${developer.username}`,
        `removed review request for @${master.username} and @${reporter.username}`,
        `requested review from @${reporter.username}`,
        `removed review request for @${reporter.username}`,
      ],
    );
    assert.equal(await requestTodos(request, reporter.token), 1);
  });

  it('ignores users who do not exist or do not see it, and is bounded', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const ids = [hidden.stranger.id, hidden.guest.id, 999_999, hidden.developer.id];
    const request = await world.open(hidden.id, { reviewer_ids: ids });
    assert.deepEqual(usernames(request), [hidden.developer.username]);
    const none = await put(request, { reviewer_ids: [hidden.stranger.id] });
    assert.deepEqual(usernames(none.body), [hidden.developer.username]);
    const many = Array.from({ length: 101 }, (_one, at) => at + 1);
    assert.deepEqual(answer(await put(request, { reviewer_ids: many })), [
      400,
      { message: { reviewer_ids: ['is too long (maximum is 100 values)'] } },
    ]);
    assert.equal((await put(request, { reviewer_ids: ['x'] })).status, 400);
  });

  it('is ignored from users who may not assign', async () => {
    const author = await seedUser(world.gantry);
    await seedMember(world.gantry, { user: author.id, project: team.id, access_level: 20 });
    const request = await open();
    const edited = await put(request, { reviewer_ids: [author.id] }, team.reporter.token);
    assert.equal(edited.status, 403);
    assert.deepEqual((await show(request)).reviewers, []);
  });

  it('a reviewer follows the merge request and takes part in it', async () => {
    const { reporter } = team;
    const request = await open({ reviewer_ids: [reporter.id] });
    const shown = await world.api(`GET ${pathOf(request)}`, { as: reporter.token });
    assert.equal(shown.body.subscribed, true);
    const { body } = await world.api(`GET ${pathOf(request)}/participants`);
    assert.ok(body.some(({ id }: { id: number }) => id === reporter.id));
  });

  it("shows the reviewers' present names, and no deleted users", async () => {
    const user = await seedUser(world.gantry);
    await seedMember(world.gantry, { user: user.id, project: team.id, access_level: 30 });
    const request = await open({ reviewer_ids: [user.id] });
    const listed = async () =>
      (await world.api(`GET /projects/${team.id}/merge_requests?iids[]=${request.iid}`)).body[0].reviewers;
    assert.equal((await listed()).length, 1);
    await world.api(`PUT /users/${user.id}?name=Renamed`);
    assert.equal((await listed())[0].name, 'Renamed');
    assert.equal((await world.api(`DELETE /users/${user.id}`)).status, 204);
    for (let tries = 0; tries < 100 && (await listed()).length > 0; tries += 1) {
      await new Promise((done) => setTimeout(done, 20));
    }
    assert.deepEqual(await listed(), []);
  });
});

describe('requested changes', () => {
  const review = async (request: MergeRequest, json: object, as: string) =>
    await world.api(`POST ${pathOf(request)}/draft_notes/bulk_publish`, { json, as });
  const status = async (request: MergeRequest): Promise<string> =>
    (await show(request)).detailed_merge_status;

  it('block the merge until the reviewer approves; the requesting user becomes a reviewer', async () => {
    const { developer } = team;
    const request = await open();
    const { status: code } = await review(
      request,
      { reviewer_state: 'requested_changes', note: 'Please add a test.' },
      developer.token,
    );
    assert.equal(code, 204);
    assert.deepEqual(await states(request), [`${developer.username} requested_changes`]);
    assert.equal(await status(request), 'requested_changes');
    const notes = (await world.api(`GET ${pathOf(request)}/notes?sort=asc`)).body;
    assert.deepEqual(
      notes.map(({ body }: { body: string }) => body),
      ['Please add a test.', 'requested changes'],
    );
    assert.equal((await world.api(`PUT ${pathOf(request)}/merge`)).status, 405);
    await review(request, { reviewer_state: 'reviewed', note: 'More' }, developer.token);
    assert.equal(await status(request), 'requested_changes', 'a comment keeps the state');
    await world.api(`POST ${pathOf(request)}/approve`, { as: developer.token });
    assert.deepEqual(await states(request), [`${developer.username} approved`]);
    assert.equal(await status(request), 'mergeable');
    await review(request, { reviewer_state: 'requested_changes' }, developer.token);
    const { body } = await world.api(`GET ${pathOf(request)}/approvals`);
    assert.deepEqual(body.approved_by, [], 'the approval is taken back');
    await review(request, { reviewer_state: 'approved' }, developer.token);
    assert.equal((await world.api(`PUT ${pathOf(request)}/merge`)).status, 200);
  });

  it('no longer block once the review is requested again, or the reviewer is removed', async () => {
    const { developer } = team;
    const request = await open({ reviewer_ids: [developer.id] });
    for (const end of [
      async () => await comment(request, `/request_review @${developer.username}`),
      async () => await put(request, { reviewer_ids: [] }),
    ]) {
      await review(request, { reviewer_state: 'requested_changes' }, developer.token);
      assert.equal(await status(request), 'requested_changes');
      await end();
      assert.equal(await status(request), 'mergeable');
    }
  });

  it('are for those who may approve', async () => {
    const request = await open();
    const { reporter } = team;
    const refused = await review(request, { reviewer_state: 'requested_changes' }, reporter.token);
    assert.equal(refused.status, 401);
    assert.equal((await review(request, { reviewer_state: 'other' }, reporter.token)).status, 400);
    assert.deepEqual(await states(request), []);
  });
});

describe('state', () => {
  it("follows a reviewer's actions: approve, revoke, publish a review", async () => {
    const { developer, master } = team;
    const request = await open({ reviewer_ids: [developer.id, master.id] });
    await world.api(`POST ${pathOf(request)}/approve`, { as: developer.token });
    assert.deepEqual(await states(request), [
      `${developer.username} approved`,
      `${master.username} unreviewed`,
    ]);
    await world.api(`POST ${pathOf(request)}/unapprove`, { as: developer.token });
    const drafts = `${pathOf(request)}/draft_notes`;
    await world.api(`POST ${drafts}`, { as: master.token, json: { note: 'Hm.' } });
    await world.api(`POST ${drafts}/bulk_publish`, { as: master.token });
    assert.deepEqual(await states(request), [
      `${developer.username} unapproved`,
      `${master.username} reviewed`,
    ]);
    await put(request, { reviewer_ids: [developer.id, master.id, team.reporter.id] });
    assert.deepEqual((await states(request)).slice(0, 2), [
      `${developer.username} unapproved`,
      `${master.username} reviewed`,
    ]);
  });
});

describe('quick actions', () => {
  it('add and remove reviewers, and ask one again', async () => {
    const { developer, reporter, master } = team;
    const request = await open({ description: `Why\n/assign_reviewer @${developer.username}` });
    assert.deepEqual(usernames(request), [developer.username]);
    await comment(request, `/reviewer @${reporter.username}\n/request_review @${master.username}`);
    assert.deepEqual(usernames(await show(request)), [
      developer.username,
      reporter.username,
      master.username,
    ]);
    await comment(request, `/unassign_reviewer @${reporter.username}`);
    assert.deepEqual(usernames(await show(request)), [developer.username, master.username]);
    await world.api(`POST ${pathOf(request)}/approve`, { as: developer.token });
    assert.equal(await requestTodos(request, developer.token), 0);
    await comment(request, `/request_review @${developer.username}`);
    assert.deepEqual(await states(request), [
      `${developer.username} unreviewed`,
      `${master.username} unreviewed`,
    ]);
    assert.equal((await world.requestNotes(request)).at(-1), `requested review from @${developer.username}`);
    assert.equal(await requestTodos(request, developer.token), 1);
    await comment(request, '/remove_reviewer');
    assert.deepEqual((await show(request)).reviewers, []);
  });

  it('do nothing for those who may not assign, and nothing on an issue', async () => {
    const request = await open();
    await comment(request, `/reviewer @${team.developer.username}`, team.guest.token);
    assert.deepEqual((await show(request)).reviewers, []);
    const issue = await world.issue(team.id, { description: `/reviewer @${team.developer.username}` });
    assert.deepEqual([issue.assignees, issue.description], [[], '']);
  });
});

describe('filters', () => {
  it('select by reviewer on each list; totals agree', async () => {
    const at = await world.codeTeam({ namespace: (await seedGroup(world.gantry)).id });
    const { developer: a, reporter: b } = at;
    for (const reviewer_ids of [[a.id], [a.id, b.id], []]) await world.open(at.id, { reviewer_ids });
    const cases: [string, number[]][] = [
      [`reviewer_id=${a.id}`, [1, 2]],
      [`reviewer_username=${b.username.toUpperCase()}`, [2]],
      [`reviewer_id=${a.id}&reviewer_username=${b.username}`, [2]],
      ['reviewer_id=None', [3]],
      ['reviewer_id=0', [3]],
      ['reviewer_id=any', [1, 2]],
      ['reviewer_id=999999', []],
      ['reviewer_username=nobody-of-this-name', []],
      [`not[reviewer_id]=${b.id}`, [1, 3]],
      [`not[reviewer_username]=${a.username}`, [3]],
      [`reviewer_id=${a.id}&order_by=updated_at`, [1, 2]],
    ];
    const lists = [
      '/merge_requests?scope=all',
      `/groups/${at.namespace_id}/merge_requests?x=1`,
      `/projects/${at.id}/merge_requests?x=1`,
    ];
    for (const [query, expected] of cases) {
      for (const list of lists) {
        const reply = await world.api(`GET ${list}&per_page=100&${query}`);
        const own = reply.body.filter((one: MergeRequest) => one.project_id === at.id);
        const iids = own.map(({ iid }: MergeRequest) => iid).toSorted((x: number, y: number) => x - y);
        assert.deepEqual(iids, expected, `${list} ${query}`);
        if (list.startsWith('/projects')) assert.equal(reply.headers.get('x-total'), String(expected.length));
      }
    }
    const mine = await world.api('GET /merge_requests?scope=reviews_for_me', { as: b.token });
    assert.deepEqual(sortedIids(mine), [2]);
    for (const list of lists) {
      assert.equal((await world.api(`GET ${list}&reviewer_id=x`)).status, 400);
      assert.equal((await world.api(`GET ${list}&not[reviewer_id]=x`)).status, 400);
    }
  });
});
