/** Fields of issues and merge requests that show other records follow changes of those at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup } from '../../support/seed.ts';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import type { Issue, Team } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam({ namespace: (await seedGroup(world.gantry)).id });
});
after(async () => await world.close());

const lists = () => [
  `/projects/${team.id}/issues?x=1`,
  `/groups/${team.namespace_id}/issues?x=1`,
  '/issues?scope=all',
];

/** The issue in the three lists and alone; all must agree. */
const count = async ({ iid }: Issue, as?: string): Promise<number> => {
  const options = as === undefined ? {} : { as };
  const one = (await world.api(`GET /projects/${team.id}/issues/${iid}`, options)).body.merge_requests_count;
  for (const list of lists()) {
    const { body } = await world.api(`GET ${list}&iids[]=${iid}`, options);
    const listed = body.filter(({ project_id }: Issue) => project_id === team.id);
    assert.deepEqual(
      listed.map((issue: Issue) => issue.merge_requests_count),
      [one],
      list,
    );
  }
  return one;
};

describe('merge_requests_count', () => {
  it('follows the merge requests that close an issue', async () => {
    const issue = await world.issue(team.id);
    assert.equal(await count(issue), 0);
    const first = await world.open(team.id, { description: `Closes #${issue.iid}` });
    assert.equal(await count(issue), 1);
    const second = await world.open(team.id, { title: `Fixes #${issue.iid}` });
    assert.equal(await count(issue), 2);
    await world.api(`PUT ${pathOf(first)}`, { json: { description: 'Nothing' } });
    assert.equal(await count(issue), 1);
    assert.equal((await world.api(`DELETE ${pathOf(second)}`)).status, 204);
    assert.equal(await count(issue), 0);
  });

  it('excludes merge requests that the reader cannot see', async () => {
    const issue = await world.issue(team.id);
    await world.open(team.id, { description: `Closes #${issue.iid}` });
    await world.setProject(team.id, { merge_requests_access_level: 'private' });
    assert.deepEqual([await count(issue, team.stranger.token), await count(issue, team.guest.token)], [0, 1]);
    const todo = await world.api(`POST /projects/${team.id}/issues/${issue.iid}/todo`, {
      as: team.stranger.token,
    });
    assert.equal(todo.body.target.merge_requests_count, 0);
    const subscribed = await world.api(`POST /projects/${team.id}/issues/${issue.iid}/subscribe`, {
      as: team.stranger.token,
    });
    assert.equal(subscribed.body.merge_requests_count, 0);
    await world.setProject(team.id, { merge_requests_access_level: 'enabled' });
    assert.equal(await count(issue, team.stranger.token), 1);
  });
});

describe('squash_on_merge', () => {
  it('follows the project setting if it decides, else the merge request', async () => {
    const request = await world.open(team.id, { squash: true });
    const listed = async (): Promise<boolean> =>
      (await world.api(`GET /projects/${team.id}/merge_requests?iids[]=${request.iid}`)).body[0]
        .squash_on_merge;
    assert.equal(await listed(), true);
    for (const [squash_option, expected] of [
      ['never', false],
      ['always', true],
      ['default_off', true],
    ] as const) {
      await world.api(`PUT /projects/${team.id}`, { json: { squash_option } });
      assert.equal(await listed(), expected, squash_option);
    }
  });
});

describe('milestone', () => {
  it('has its address and expires with its day, wherever it is shown', async () => {
    const start = Date.UTC(2031, 0, 2, 12);
    world.gantry.setTime(start);
    const json = { title: 'v1', due_date: '2031-01-02' };
    const { body: milestone } = await world.api(`POST /projects/${team.id}/milestones`, { json });
    const { body: above } = await world.api(`POST /groups/${team.namespace_id}/milestones`, {
      json: { title: 'above' },
    });
    assert.equal(milestone.web_url, `${world.url}/${team.full_path}/-/milestones/${milestone.iid}`);
    const group = team.full_path.slice(0, team.full_path.lastIndexOf('/'));
    assert.equal(above.web_url, `${world.url}/groups/${group}/-/milestones/${above.iid}`);
    assert.deepEqual([above.expired, above.group_id], [false, team.namespace_id]);
    const issue = await world.issue(team.id, { milestone_id: milestone.id });
    const other = await world.issue(team.id, { milestone_id: above.id });
    assert.deepEqual([issue.milestone, other.milestone], [milestone, above]);
    const listed = async () =>
      (await world.api(`GET /projects/${team.id}/issues?iids[]=${issue.iid}`)).body[0].milestone.expired;
    assert.equal(await listed(), false);
    world.gantry.setTime(start + 24 * 60 * 60 * 1000);
    assert.equal(await listed(), true);
    world.gantry.setTime(null);
  });
});

describe('head_pipeline', () => {
  it('is the whole pipeline, pipeline the brief one', async () => {
    const request: MergeRequest = await world.open(team.id);
    const status = `state=success&name=ci&ref=${request.source_branch}`;
    assert.equal(
      (await world.api(`POST /projects/${team.id}/statuses/${request.sha}?${status}`)).status,
      201,
    );
    const { head_pipeline, pipeline } = (await world.api(`GET ${pathOf(request)}`)).body;
    const whole = await world.api(`GET /projects/${team.id}/pipelines/${head_pipeline.id}`);
    assert.deepEqual(head_pipeline, whole.body);
    assert.equal(head_pipeline.detailed_status.text, 'Passed');
    assert.equal('detailed_status' in pipeline, false);
  });
});
