/** Every read shows an issue as it is at that moment, whatever changed it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SeededUser, seedGroup, seedUser } from '../../support/seed.ts';
import { type Issue, type Reply, type Team, type World, startWorld } from '../world.ts';

let world: World;
let group: { id: number; path: string };
let team: Team;
let author: SeededUser;
let issue: Issue;
before(async () => {
  world = await startWorld();
  group = await seedGroup(world.gantry);
  team = await world.team({ namespace: group.id });
  author = await seedUser(world.gantry);
  const milestone = await world.milestone(team.id, { title: 'v1' });
  const shared = { labels: 'one,two', milestone_id: milestone.id, assignee_ids: [team.guest.id] };
  issue = await world.issue(team.id, { title: 'Watched', description: 'Text' }, author.token);
  await world.api(`PUT ${path()}`, { json: shared });
});
after(async () => await world.close());

const path = (): string => `/projects/${team.id}/issues/${issue.iid}`;

const lists = (): string[] => [
  `/projects/${team.id}/issues`,
  `/groups/${group.id}/issues`,
  '/issues?scope=all',
  `/projects/${team.id}/issues?search=e`,
  `/projects/${team.id}/issues?iids[]=${issue.iid}`,
];

const looksAlike = async (): Promise<void> => {
  // An edit that changes nothing answers from the rows themselves.
  const whole = (await world.api(`PUT ${path()}?remove_labels=no-such-label`)).body;
  assert.deepEqual((await world.api(`GET ${path()}`)).body, whole);
  const { _links, subscribed: _subscribed, ...expected } = whole;
  assert.ok(_links);
  for (const list of lists()) {
    const { body } = await world.api(`GET ${list}`);
    const shown = body.find(({ id }: Issue) => id === issue.id);
    if (shown === undefined && list.includes('search')) continue;
    assert.deepEqual(shown, expected, list);
  }
};

const milestoneId = async (): Promise<number> => (await world.api(`GET ${path()}`)).body.milestone.id;

describe('after each of these, the single read and every list show the issue as it is', () => {
  const put = (json: object) => world.api(`PUT ${path()}`, { json });
  const changes: [string, () => Promise<Reply>][] = [
    ['the title', () => put({ title: 'Renamed' })],
    ['the description', () => put({ description: 'Other text' })],
    ['the state', () => put({ state_event: 'close' })],
    ['the state again', () => put({ state_event: 'reopen' })],
    ['confidential', () => put({ confidential: true })],
    ['due_date', () => put({ due_date: '2026-03-04' })],
    ['labels', () => put({ labels: 'one,three' })],
    ['assignees', () => put({ assignee_ids: [team.reporter.id, team.guest.id] })],
    ['the order of the assignees', () => put({ assignee_ids: [team.guest.id, team.reporter.id] })],
    ['updated_at', () => put({ title: 'Renamed', updated_at: '2020-01-01T00:00:00Z' })],
    ['a time estimate', () => world.api(`POST ${path()}/time_estimate?duration=1h`)],
    ['time spent', () => world.api(`POST ${path()}/add_spent_time?duration=2h`)],
    ['a comment', () => world.api(`POST ${path()}/notes?body=Hello`)],
    ['an award', () => world.api(`POST ${path()}/award_emoji?name=thumbsup`)],
    [
      'a second award',
      () => world.api(`POST ${path()}/award_emoji?name=thumbsdown`, { as: team.reporter.token }),
    ],
    [
      'an award taken back',
      async () => {
        const [award] = (await world.api(`GET ${path()}/award_emoji`)).body;
        return await world.api(`DELETE ${path()}/award_emoji/${award.id}`);
      },
    ],
    [
      'a comment deleted',
      async () => {
        const notes = (await world.api(`GET ${path()}/notes`)).body;
        const comment = notes.find(({ system }: Issue) => system === false);
        return await world.api(`DELETE ${path()}/notes/${comment.id}`);
      },
    ],
    ['a label renamed', () => world.api(`PUT /projects/${team.id}/labels?name=three&new_name=drei`)],
    ['a label deleted', () => world.api(`DELETE /projects/${team.id}/labels?name=one`)],
    [
      'the milestone renamed, described and dated',
      async () =>
        await world.api(`PUT /projects/${team.id}/milestones/${await milestoneId()}`, {
          json: { title: 'v2', description: 'New', due_date: '2027-01-01' },
        }),
    ],
    [
      'the milestone closed',
      async () =>
        await world.api(`PUT /projects/${team.id}/milestones/${await milestoneId()}?state_event=close`),
    ],
    [
      'the milestone deleted',
      async () => await world.api(`DELETE /projects/${team.id}/milestones/${await milestoneId()}`),
    ],
    ['the author renamed', () => world.api(`PUT /users/${author.id}?name=New%20Name`)],
    ['the author’s user name', () => world.api(`PUT /users/${author.id}?username=${author.username}-new`)],
    [
      'the author’s e-mail address, from which their avatar is derived',
      () => world.api(`PUT /users/${author.id}?email=${author.username}@example.net`),
    ],
    [
      'the author blocked',
      async () => {
        await world.gantry.service.platform.store.write(async (tx) => {
          await tx.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', author.id).execute();
        });
        return await world.api(`GET ${path()}`);
      },
    ],
    ['an assignee deleted', () => world.api(`DELETE /users/${team.reporter.id}`)],
    ['an assignee’s name', () => world.api(`PUT /users/${team.guest.id}?name=Guest%20Name`)],
    ['the project’s path', () => world.api(`PUT /projects/${team.id}?path=moved-path`)],
    ['the group’s path', () => world.api(`PUT /groups/${group.id}?path=${group.path}-new`)],
  ];
  for (const [name, change] of changes) {
    it(name, async () => {
      await looksAlike();
      const reply = await change();
      assert.ok(reply.status < 300, `${reply.status} ${reply.text}`);
      await looksAlike();
    });
  }

  it('the base URL that the client used', async () => {
    const other = world.url.replace('127.0.0.1', 'localhost');
    const headers = { 'private-token': 'root-token-of-the-tests' };
    const response = await fetch(`${other}/api/v4/projects/${team.id}/issues`, { headers }).catch(() => null);
    if (response === null) return; // no such name on this machine
    const [shown] = (await response.json()) as Issue[];
    assert.ok(shown.web_url.startsWith(other));
    await looksAlike();
  });

  it('a deletion', async () => {
    assert.equal((await world.api(`DELETE ${path()}`)).status, 204);
    for (const list of lists()) {
      const { body } = await world.api(`GET ${list}`);
      assert.ok(!body.some(({ id }: Issue) => id === issue.id), list);
    }
  });
});
