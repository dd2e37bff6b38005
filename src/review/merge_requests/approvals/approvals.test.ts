import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
let developer: SeededUser;
let author: SeededUser;
let reporter: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  [developer, author, reporter] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  for (const user of [developer, author]) {
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  }
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  await seedCommit(gantry, project.id, { a: 'a\n' });
});
after(async () => await gantry.close());

type Made = { path: string; sha: string };

const mergeRequest = async (): Promise<Made> => {
  const branch = unique('branch');
  const sha = await seedCommit(gantry, project.id, { [branch]: 'b\n' }, { branch, from: 'main' });
  const { body } = await gantry.api(`POST /projects/${project.id}/merge_requests`, {
    as: author.token,
    json: { source_branch: branch, target_branch: 'main', title: 'Change', description: 'Why' },
  });
  return { path: `/projects/${project.id}/merge_requests/${body.iid}`, sha };
};

const post = async ({ path }: Made, verb: string, as = developer.token, json: object = {}): Promise<Reply> =>
  await gantry.api(`POST ${path}/${verb}`, { as, json });

const get = async ({ path }: Made, as = developer.token): Promise<Reply> =>
  await gantry.api(`GET ${path}/approvals`, { as });

const approvers = ({ body }: Reply): string[] =>
  body.approved_by.map(({ user }: { user: { username: string } }) => user.username);

test('requires no approvals and lets developers approve', async () => {
  const on = await mergeRequest();
  const seen = await get(on);
  const { created_at, updated_at, merge_status, id, iid } = seen.body;
  assert.deepEqual(seen.body, {
    id,
    iid,
    project_id: project.id,
    title: 'Change',
    description: 'Why',
    state: 'opened',
    created_at,
    updated_at,
    merge_status,
    approved: false,
    approvals_required: 0,
    approvals_left: 0,
    require_password_to_approve: false,
    approved_by: [],
    suggested_approvers: [],
    approvers: [],
    approver_groups: [],
    user_has_approved: false,
    user_can_approve: true,
    approval_rules_left: [],
    has_approval_rules: false,
    merge_request_approvers_available: false,
    multiple_approval_rules_available: false,
  });
  assert.equal((await get(on, reporter.token)).body.user_can_approve, false);
  const state = await gantry.api(`GET ${on.path}/approval_state`);
  assert.deepEqual(state.body, { approval_rules_overwritten: false, rules: [] });
});

test('records an approval once, removes it, and adds notes', async () => {
  const on = await mergeRequest();
  const approval = await post(on, 'approve');
  assert.equal(approval.status, 201);
  assert.deepEqual(
    [
      approval.body.approved,
      approvers(approval),
      approval.body.user_has_approved,
      approval.body.user_can_approve,
    ],
    [true, [developer.username], true, false],
  );
  assert.match(approval.body.approved_by[0].approved_at, /^\d{4}-/);
  assert.equal((await post(on, 'approve')).status, 401);
  assert.deepEqual(approvers(await post(on, 'approve', author.token)), [developer.username, author.username]);
  const taken = await post(on, 'unapprove');
  assert.deepEqual([taken.status, approvers(taken)], [201, [author.username]]);
  assert.deepEqual((await post(on, 'unapprove')).status, 404);
  const notes = await gantry.api(`GET ${on.path}/notes?sort=asc`);
  assert.deepEqual(
    notes.body.map(({ body, system }: { body: string; system: boolean }) => [body, system]),
    [
      ['approved this merge request', true],
      ['approved this merge request', true],
      ['unapproved this merge request', true],
    ],
  );
});

test('refuses an approval for an outdated head', async () => {
  const on = await mergeRequest();
  const refused = await post(on, 'approve', developer.token, { sha: '0'.repeat(40) });
  assert.deepEqual(
    [refused.status, refused.body],
    [409, { message: 'SHA does not match HEAD of source branch' }],
  );
  assert.deepEqual(approvers(await get(on)), []);
  assert.equal((await post(on, 'approve', developer.token, { sha: on.sha })).status, 201);
});

test('refuses approvals by reporters and of closed requests', async () => {
  const on = await mergeRequest();
  assert.equal((await post(on, 'approve', reporter.token)).status, 401);
  assert.equal((await post(on, 'unapprove', reporter.token)).status, 401);
  await gantry.api(`PUT ${on.path}`, { json: { state_event: 'close' } });
  assert.equal((await post(on, 'approve')).status, 401);
});

test('finishes the todos of the approver', async () => {
  const on = await mergeRequest();
  const todo = await gantry.api(`POST ${on.path}/todo`, { as: developer.token });
  await post(on, 'approve');
  const done = await gantry.api('GET /todos?state=done', { as: developer.token });
  assert.ok(done.body.some(({ id }: { id: number }) => id === todo.body.id));
});

test('counts concurrent approvals of one user once', async () => {
  const on = await mergeRequest();
  const all = await Promise.all(Array.from({ length: 6 }, async () => await post(on, 'approve')));
  const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, 401, 401, 401, 401, 401]);
});

test('filters lists by approver and updates them after approvals', async () => {
  const [first, second] = [await mergeRequest(), await mergeRequest()];
  const list = async (query: string): Promise<string[]> => {
    const path = `/projects/${project.id}/merge_requests`;
    const { status, body } = await gantry.api(`GET ${path}?${query}`, { as: developer.token });
    assert.equal(status, 200, query);
    return body.map(({ iid }: { iid: number }) => `${path}/${iid}`);
  };
  const isListed = async (query: string): Promise<boolean[]> => {
    const paths = await list(`per_page=100&${query}`);
    return [paths.includes(first.path), paths.includes(second.path)];
  };
  const byName = `approved_by_usernames[]=${developer.username.toUpperCase()}`;
  assert.deepEqual(await isListed(byName), [false, false]);
  await post(first, 'approve');
  assert.deepEqual(await isListed(byName), [true, false]);
  assert.deepEqual(await isListed(`approved_by_ids[]=${developer.id}`), [true, false]);
  assert.deepEqual(await isListed(`approved_by_ids[]=${developer.id}&approved_by_ids[]=${author.id}`), [
    false,
    false,
  ]);
  assert.deepEqual(await isListed('approved_by_ids=Any'), [true, false]);
  assert.deepEqual(await isListed('approved_by_ids=None'), [false, true]);
  await post(first, 'unapprove');
  assert.deepEqual(await isListed(byName), [false, false]);
  const bad = await gantry.api(`GET /projects/${project.id}/merge_requests?approved_by_ids=me`);
  assert.equal(bad.status, 400);
});
