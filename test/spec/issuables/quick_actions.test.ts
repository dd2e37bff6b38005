/** Behaviour book 2.5: quick actions in the description of a new issue are carried out. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedIssue } from '../../support/seed.ts';
import { type Issue, type Team, type World, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  const group = await seedGroup(world.gantry);
  team = await world.team({ namespace: group.id });
  for (const title of ['bug', 'two words', 'a']) await world.label(team.id, title);
  await world.label({ group: group.id }, 'of group');
});
after(async () => await world.close());

const made = async (description: string, fields: object = {}, as?: string): Promise<Issue> =>
  await world.issue(team.id, { ...fields, description }, as);

const idsOf = ({ assignees }: Issue): number[] => assignees.map(({ id }: Issue) => id);

describe('the line is no part of the text', () => {
  const rows: [string, string][] = [
    ['Text\n/label ~bug\nmore', 'Text\nmore'],
    ['/label ~bug', ''],
    ['Text\n\n/estimate 1h\n', 'Text'],
    ['Text\n/frobnicate ~bug', 'Text\n/frobnicate ~bug'],
    ['Text /label ~bug', 'Text /label ~bug'],
    ['```\n/label ~bug\n```', '```\n/label ~bug\n```'],
    ['/close', ''],
  ];
  for (const [text, rest] of rows) {
    it(JSON.stringify(text), async () => assert.equal((await made(text)).description, rest));
  }
  it('a search does not find it', async () => {
    await made('findable\n/title unfindableword');
    const list = await world.api(`GET /projects/${team.id}/issues?search=%2Ftitle`);
    assert.deepEqual(list.body, []);
  });
});

describe('labels', () => {
  const rows: [string, string[], object?][] = [
    ['/label ~bug', ['bug']],
    ['/label ~bug ~"two words"', ['bug', 'two words']],
    ['/labels bug a', ['a', 'bug']],
    ['/label ~"of group"', ['of group']],
    ['/label ~unknown ~bug', ['bug']],
    ['/label ~bug\n/label ~a', ['a', 'bug']],
    ['/label ~bug', ['bug', 'given'], { labels: 'given' }],
    ['/unlabel ~bug', ['a'], { labels: 'a,bug' }],
    ['/unlabel', [], { labels: 'a,bug' }],
    ['/relabel ~bug', ['bug'], { labels: 'a' }],
    ['/label ~bug\n/unlabel ~bug', []],
    ['/label', []],
  ];
  for (const [text, expected, fields] of rows) {
    it(`${JSON.stringify(text)} with ${JSON.stringify(fields ?? {})}`, async () =>
      assert.deepEqual((await made(text, fields)).labels, expected));
  }
  it('/label accepts the id of a label', async () => {
    const id = await world.label(team.id, 'by id');
    assert.deepEqual((await made(`/label ~${id}`)).labels, ['by id']);
  });
  it('none is created, and none of another project is taken', async () => {
    const other = await world.label((await world.project()).id, 'elsewhere');
    assert.deepEqual((await made(`/label ~${other} ~elsewhere ~never-made`)).labels, []);
  });
});

describe('assignees', () => {
  it('/assign with @, without, several, me', async () => {
    const { guest, reporter } = team;
    assert.deepEqual(idsOf(await made(`/assign @${guest.username}`)), [guest.id]);
    assert.deepEqual(
      idsOf(await made(`/assign ${guest.username} @${reporter.username}`)).toSorted((a, b) => a - b),
      [guest.id, reporter.id].toSorted((a, b) => a - b),
    );
    assert.deepEqual(idsOf(await made('/assign me', {}, reporter.token)), [reporter.id]);
    assert.deepEqual(idsOf(await made('/assign @nobody-of-this-name')), []);
  });
  it('adds to those given; /unassign removes one or all; /reassign replaces', async () => {
    const { guest, reporter } = team;
    const attributes = { assignee_ids: [reporter.id] };
    assert.deepEqual(idsOf(await made(`/assign @${guest.username}`, attributes)), [reporter.id, guest.id]);
    assert.deepEqual(idsOf(await made(`/unassign @${reporter.username}`, attributes)), []);
    assert.deepEqual(idsOf(await made('/unassign', attributes)), []);
    assert.deepEqual(idsOf(await made(`/reassign @${guest.username}`, attributes)), [guest.id]);
  });
  it('one who cannot read the issue is not assigned', async () => {
    const secret = await world.team({ visibility: 'private' });
    const issue = await world.issue(secret.id, { description: `/assign @${secret.stranger.username}` });
    assert.deepEqual(issue.assignees, []);
  });
  it('assigning by a quick action creates a todo, as the field does', async () => {
    const { id } = await made(`/assign @${team.guest.username}`);
    assert.deepEqual(
      (await world.todos(id)).map(({ user_id, action }) => [user_id, action]),
      [[team.guest.id, 'assigned']],
    );
  });
});

describe('milestone', () => {
  it('by title, quoted title and iid; of the group by title; closed and unknown ones are none', async () => {
    const own = await world.milestone(team.id, { title: 'v1' });
    const spaced = await world.milestone(team.id, { title: 'version 2' });
    const shared = await world.milestone({ group: team.namespace_id }, { title: 'shared' });
    await world.milestone(team.id, { title: 'old', state: 'closed' });
    for (const [text, expected] of [
      ['/milestone %v1', own.id],
      ['/milestone v1', own.id],
      ['/milestone %"version 2"', spaced.id],
      [`/milestone %${own.iid}`, own.id],
      ['/milestone %shared', shared.id],
      ['/milestone %old', undefined],
      ['/milestone %unknown', undefined],
      ['/milestone', undefined],
    ] as const) {
      assert.equal((await made(text)).milestone?.id, expected, text);
    }
    assert.equal((await made('/remove_milestone', { milestone_id: own.id })).milestone, null);
    assert.equal((await made('/milestone %unknown', { milestone_id: own.id })).milestone.id, own.id);
  });
});

describe('dates, times, title, confidential', () => {
  it('/due and /remove_due_date', async () => {
    assert.equal((await made('/due 2026-01-01')).due_date, '2026-01-01');
    assert.equal((await made('/due_date 2026-01-01')).due_date, '2026-01-01');
    assert.equal((await made('/due never', { due_date: '2026-02-02' })).due_date, '2026-02-02');
    assert.equal((await made('/remove_due_date', { due_date: '2026-02-02' })).due_date, null);
  });
  it('/estimate and /remove_estimate', async () => {
    assert.equal((await made('/estimate 1h 30m')).time_stats.time_estimate, 5400);
    for (const text of ['/estimate', '/estimate foo', '/estimate -1h', '/estimate 1h\n/remove_estimate']) {
      assert.equal((await made(text)).time_stats.time_estimate, 0, text);
    }
  });
  it('/spend and /remove_time_spent', async () => {
    const issue = await made('/spend 1h\n/spend 30m');
    assert.equal(issue.time_stats.total_time_spent, 5400);
    const { db } = world.gantry.service.platform.store;
    const rows = await db.selectFrom('timelogs').selectAll().where('target_id', '=', issue.id).execute();
    assert.deepEqual(
      rows.map(({ user_id, time_spent }) => [user_id, time_spent]),
      [[1, 5400]],
    );
    for (const text of [
      '/spend -1h',
      '/spend foo',
      '/spend 1h\n/remove_time_spent',
      '/spend 1h\n/spend -1h',
    ]) {
      assert.equal((await made(text)).time_stats.total_time_spent, 0, text);
    }
  });
  it('/title', async () => {
    assert.equal((await made('/title  A better one ')).title, 'A better one');
    assert.equal((await made('/title')).title, 'An issue');
    assert.equal((await made(`/title ${'x'.repeat(256)}`)).title, 'An issue');
  });
  it('/confidential', async () => assert.equal((await made('/confidential')).confidential, true));
});

describe('subscription, todo, state', () => {
  it('/subscribe and /unsubscribe', async () => {
    assert.equal((await made('/subscribe')).subscribed, true);
    assert.equal((await made('/unsubscribe')).subscribed, false);
    assert.equal((await made('/unsubscribe\n/subscribe')).subscribed, true);
  });
  it('/todo and /done', async () => {
    const { id } = await made('/todo');
    assert.deepEqual(await world.todos(id), [
      { user_id: 1, action: 'marked', state: 'pending', body: 'An issue' },
    ]);
    assert.deepEqual(await world.todos((await made('/todo\n/done')).id), []);
  });
  it('/close and /reopen: a new issue is opened', async () => {
    for (const text of ['/close', '/reopen']) assert.equal((await made(text)).state, 'opened');
  });
});

describe('permission rules as for the fields', () => {
  const text =
    '/label ~bug\n/assign me\n/milestone %m\n/due 2026-01-01\n/estimate 1h\n/spend 1h\n/title T\n/confidential';
  it('a guest: labels, assignees, milestone and due date are dropped, the rest is done', async () => {
    await world.milestone(team.id, { title: 'm' });
    const issue = await made(text, {}, team.guest.token);
    assert.equal(issue.description, '');
    assert.deepEqual([issue.labels, issue.assignees, issue.milestone, issue.due_date], [[], [], null, null]);
    assert.deepEqual([issue.title, issue.confidential, issue.time_stats.time_estimate], ['T', true, 3600]);
  });
  it('a reporter: everything', async () => {
    const issue = await made(text, {}, team.reporter.token);
    assert.deepEqual(
      [issue.labels, idsOf(issue), issue.due_date],
      [['bug'], [team.reporter.id], '2026-01-01'],
    );
    assert.equal(issue.milestone.title, 'm');
  });
});

it('an edit leaves such lines as they are', async () => {
  const { iid } = await seedIssue(world.gantry, { project: team.id });
  const description = 'Text\n/label ~bug';
  const { body } = await world.api(`PUT /projects/${team.id}/issues/${iid}`, { json: { description } });
  assert.deepEqual([body.description, body.labels], [description, []]);
});
