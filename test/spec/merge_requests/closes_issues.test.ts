/** API document: closes_issues of a merge request, closed_by of an issue; behaviour book 3.11, 2.17, 1.13. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import { type Issue, type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const ids = (body: { id: number | string }[]) => body.map(({ id }) => id);
const closes = async (request: MergeRequest, query = '', as?: string) =>
  await world.get(request, `/closes_issues${query}`, as);
const closedBy = async ({ project_id, iid }: Issue, query = '', as?: string) =>
  await world.api(
    `GET /projects/${project_id}/issues/${iid}/closed_by${query}`,
    as === undefined ? {} : { as },
  );

describe('closes_issues', () => {
  it('are those that title, description and commits name', async () => {
    const issues = [];
    for (let index = 0; index < 3; index += 1) issues.push(await world.issue(team.id));
    const [a, b, c] = issues as [Issue, Issue, Issue];
    const source_branch = await world.branch(team.id, { message: `Work\n\nResolves #${c.iid}\n` });
    const fields = { source_branch, title: `Fix #${a.iid}`, description: `Closes #${b.iid}, #99999` };
    const request = await world.open(team.id, fields);
    const { status, body, headers } = await closes(request);
    assert.equal(status, 200);
    assert.deepEqual(ids(body), ids([a, b, c]));
    assert.equal(headers.get('x-total'), '3');
    const { _links: _l, subscribed: _s, ...listed } = a;
    assert.deepEqual(body[0], { ...listed, merge_requests_count: 1 });
    assert.deepEqual(ids((await closes(request, '?per_page=2&page=2')).body), [c.id]);
  });
  it('none unless it goes into the default branch', async () => {
    const issue = await world.issue(team.id);
    const target_branch = await world.branch(team.id);
    const request = await world.open(team.id, { target_branch, description: `Closes #${issue.iid}` });
    assert.deepEqual(answer(await closes(request)), [200, []]);
    assert.deepEqual((await closedBy(issue)).body, []);
  });
  it('only those that the caller may read', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const secret = await world.issue(team.id, { confidential: true });
    const other = await world.issue(hidden.id);
    const description = `Closes #${secret.iid} and ${hidden.full_path}#${other.iid}`;
    const request = await world.open(team.id, { description });
    assert.deepEqual(ids((await closes(request)).body), [secret.id, other.id]);
    const seen = await closes(request, '', team.guest.token);
    assert.deepEqual([seen.body, seen.headers.get('x-total')], [[], '0']);
    assert.deepEqual(ids((await closes(request, '', team.reporter.token)).body), [secret.id]);
  });
  it('keys of a tracker outside come after them, with id and title', async () => {
    const own = await world.codeTeam();
    const issue = await world.issue(own.id);
    const request = await world.open(own.id, { description: `Closes #${issue.iid} and fixes KEY-12` });
    assert.deepEqual(ids((await closes(request)).body), [issue.id]);
    const json = { url: 'https://tracker.example.com', password: 'x' };
    const path = `/projects/${own.id}/integrations/jira`;
    assert.equal((await world.api(`PUT ${path}`, { json })).status, 200);
    const { body, headers } = await closes(request);
    assert.deepEqual(ids(body), [issue.id, 'KEY-12']);
    assert.deepEqual(body[1], { id: 'KEY-12', title: 'External Issue KEY-12' });
    assert.equal(headers.get('x-total'), '2');
    assert.deepEqual(ids((await closes(request, '?per_page=1&page=2')).body), ['KEY-12']);
    assert.equal((await world.api(`DELETE ${path}`)).status, 204);
    assert.deepEqual(ids((await closes(request)).body), [issue.id]);
  });
  it('403 for one who may not read code, 404 for a hidden project', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const request = await world.seeded({ project: hidden.id });
    assert.equal((await closes(request, '', hidden.guest.token)).status, 403);
    assert.equal((await closes(request, '', hidden.stranger.token)).status, 404);
  });
});

describe('closed_by', () => {
  it('merge requests of any state of the issue’s project, newest first', async () => {
    const issue = await world.issue(team.id);
    const description = `Closes #${issue.iid}`;
    const made = [];
    for (let index = 0; index < 3; index += 1) made.push(await world.open(team.id, { description }));
    await world.put(made[0], { state_event: 'close' });
    const { body, headers } = await closedBy(issue);
    assert.deepEqual(ids(body), ids(made.toReversed()));
    assert.equal(headers.get('x-total'), '3');
    assert.ok(!('subscribed' in body[0]));
    const second = await closedBy(issue, '?per_page=2&page=2');
    assert.deepEqual([ids(second.body), second.headers.get('x-total')], [[made[0].id], '3']);
    assert.equal((await closedBy(issue, '?page=9')).headers.get('x-total'), '3');
    await world.api(`DELETE ${pathOf(made[1])}`);
    assert.deepEqual(ids((await closedBy(issue)).body), [made[2].id, made[0].id]);
  });
  it('not those of other projects', async () => {
    const other = await world.codeTeam();
    const issue = await world.issue(team.id);
    await world.open(other.id, { description: `Closes ${team.full_path}#${issue.iid}` });
    assert.deepEqual((await closedBy(issue)).body, []);
  });
  it('none for one who may not read code', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const issue = await world.issue(hidden.id);
    await world.open(hidden.id, { description: `Closes #${issue.iid}` });
    assert.deepEqual((await closedBy(issue, '', hidden.guest.token)).body, []);
    assert.equal((await closedBy(issue, '', hidden.reporter.token)).body.length, 1);
  });
  it('a merged one closed it', async () => {
    const issue = await world.issue(team.id);
    const request = await world.open(team.id, { description: `Closes #${issue.iid}` });
    await world.api(`PUT ${pathOf(request)}/merge`);
    await world.gantry.service.worker.drain();
    const { body } = await world.api(`GET /projects/${team.id}/issues/${issue.iid}`);
    assert.equal(body.state, 'closed');
    assert.deepEqual(ids((await closedBy(issue)).body), [request.id]);
  });
});
