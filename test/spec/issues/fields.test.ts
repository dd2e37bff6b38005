/** API document, "Resources and their fields": the records that issues answer with. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedUser } from '../../support/seed.ts';
import { type Issue, type Team, type World, startWorld } from '../world.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const basicUser = ['avatar_url', 'id', 'name', 'state', 'username', 'web_url'];
const listed = [
  'assignee',
  'assignees',
  'author',
  'closed_at',
  'closed_by',
  'confidential',
  'created_at',
  'description',
  'discussion_locked',
  'downvotes',
  'due_date',
  'id',
  'iid',
  'issue_type',
  'labels',
  'merge_requests_count',
  'milestone',
  'moved_to_id',
  'project_id',
  'references',
  'state',
  'task_completion_status',
  'time_stats',
  'title',
  'type',
  'updated_at',
  'upvotes',
  'user_notes_count',
  'web_url',
];
const single = [...listed, '_links', 'subscribed'].toSorted();

const keys = (record: object): string[] => Object.keys(record).toSorted();

const rich = async (): Promise<Issue> => {
  const milestone = await world.milestone(team.id, { description: 'Then', due_date: '2026-02-03' });
  return await world.issue(team.id, {
    title: 'Rich',
    description: 'Text',
    assignee_ids: [team.developer.id, team.reporter.id],
    milestone_id: milestone.id,
    labels: 'b,a',
    due_date: '2026-01-31',
    confidential: true,
  });
};

describe('Identifiers', () => {
  it('id: unique across all records of that kind; iid: unique only within one project', async () => {
    const [first, second] = [await world.project(), await world.project()];
    const issues = [await world.issue(first.id), await world.issue(first.id), await world.issue(second.id)];
    assert.deepEqual(
      issues.map(({ iid }) => iid),
      [1, 2, 1],
    );
    assert.equal(new Set(issues.map(({ id }) => id)).size, 3);
  });

  it('path parameters named issue_iid carry the project-scoped value: the global id finds nothing', async () => {
    const first = await world.project();
    await world.issue((await world.project()).id);
    const { id, iid } = await world.issue(first.id);
    assert.notEqual(id, iid);
    assert.equal((await world.api(`GET /projects/${first.id}/issues/${iid}`)).body.id, id);
    assert.equal((await world.api(`GET /projects/${first.id}/issues/${id}`)).status, 404);
  });
});

describe('User (author, assignee, entries of assignees)', () => {
  it('has id, username, name, state active, avatar_url and web_url, and no e-mail address', async () => {
    const { author, assignee, assignees } = await rich();
    for (const user of [author, assignee, ...assignees]) assert.deepEqual(keys(user), basicUser);
    assert.deepEqual(author, {
      id: 1,
      username: 'root',
      name: 'Administrator',
      state: 'active',
      avatar_url: 'http://www.gravatar.com/avatar/e64c7d89f26bd1972efa854d13d7dd61?s=80&d=identicon',
      web_url: `${world.url}/root`,
    });
  });

  it('shows a blocked author as such', async () => {
    const user = await seedUser(world.gantry);
    const issue = await world.issue(team.id, {}, user.token);
    await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', user.id).execute();
    });
    const reply = await world.api(`GET /projects/${team.id}/issues/${issue.iid}`);
    assert.equal(reply.body.author.state, 'blocked');
  });
});

describe('Milestone', () => {
  it('has id, iid, project_id, title, description, state, times and dates', async () => {
    const milestone = await world.milestone(team.id, { description: 'Then', due_date: '2026-02-03' });
    const issue = await world.issue(team.id, { milestone_id: milestone.id });
    const { created_at, updated_at, ...rest } = issue.milestone;
    assert.match(created_at, time);
    assert.match(updated_at, time);
    assert.deepEqual(rest, {
      id: milestone.id,
      iid: milestone.iid,
      project_id: team.id,
      title: milestone.title,
      description: 'Then',
      state: 'active',
      due_date: '2026-02-03',
      start_date: null,
      expired: true,
      web_url: `${world.url}/${team.full_path}/-/milestones/${milestone.iid}`,
    });
  });

  it('is null for an issue without one', async () => {
    assert.equal((await world.issue(team.id)).milestone, null);
  });

  it('shows that it is closed, an empty description and no due date', async () => {
    const milestone = await world.milestone(team.id, { state: 'closed' });
    const issue = await world.issue(team.id, { milestone_id: milestone.id });
    assert.equal(issue.milestone.state, 'closed');
    assert.equal(issue.milestone.description, '');
    assert.equal(issue.milestone.due_date, null);
  });
});

describe('Time stats', () => {
  it('are 0 and null when unset', async () => {
    assert.deepEqual((await world.issue(team.id)).time_stats, {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    });
  });
});

describe('Issue', () => {
  it('has exactly the documented fields and values, as a single issue', async () => {
    const issue = await rich();
    assert.deepEqual(keys(issue), single);
    const { id, iid, created_at, updated_at, milestone, author, assignees, ...rest } = issue;
    assert.equal(typeof id, 'number');
    assert.match(created_at, time);
    assert.match(updated_at, time);
    assert.equal(milestone.description, 'Then');
    assert.equal(author.id, 1);
    assert.deepEqual(
      assignees.map((one: { id: number }) => one.id),
      [team.developer.id, team.reporter.id],
    );
    const self = `${world.url}/api/v4/projects/${team.id}/issues/${iid}`;
    assert.deepEqual(rest, {
      project_id: team.id,
      title: 'Rich',
      description: 'Text',
      state: 'opened',
      closed_at: null,
      labels: ['a', 'b'],
      assignee: assignees[0],
      user_notes_count: 0,
      upvotes: 0,
      downvotes: 0,
      due_date: '2026-01-31',
      confidential: true,
      web_url: `${world.url}/${team.full_path}/issues/${iid}`,
      issue_type: 'issue',
      type: 'ISSUE',
      closed_by: null,
      moved_to_id: null,
      discussion_locked: null,
      task_completion_status: { count: 0, completed_count: 0 },
      merge_requests_count: 0,
      time_stats: {
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
      },
      references: { short: `#${iid}`, relative: `#${iid}`, full: `${team.full_path}#${iid}` },
      _links: {
        self,
        notes: `${self}/notes`,
        award_emoji: `${self}/award_emoji`,
        project: `${world.url}/api/v4/projects/${team.id}`,
      },
      subscribed: true,
    });
  });

  it('has neither subscribed nor _links in lists', async () => {
    await rich();
    for (const path of ['/issues', `/projects/${team.id}/issues`]) {
      const reply = await world.api(`GET ${path}`);
      assert.deepEqual(keys(reply.body[0]), listed);
    }
  });

  it('has subscribed and _links on single issue, create, edit, move, subscribe and unsubscribe', async () => {
    const created = await world.issue(team.id);
    const path = `/projects/${team.id}/issues/${created.iid}`;
    const other = await world.project();
    const as = team.developer.token;
    const replies = [
      await world.api(`GET ${path}`),
      await world.api(`PUT ${path}`, { json: { title: 'New' } }),
      await world.api(`POST ${path}/subscribe`, { as }),
      await world.api(`POST ${path}/unsubscribe`, { as }),
      await world.api(`POST ${path}/move`, { json: { to_project_id: other.id } }),
    ];
    for (const body of [created, ...replies.map((reply) => reply.body)]) assert.deepEqual(keys(body), single);
  });

  it('description is null and labels, assignees are empty when none', async () => {
    const { description, labels, assignees, assignee, due_date } = await world.issue(team.id);
    assert.deepEqual([description, labels, assignees, assignee, due_date], [null, [], [], null, null]);
  });

  it('assignee mirrors the single assignee', async () => {
    const { assignee, assignees } = await world.issue(team.id, { assignee_ids: [team.guest.id] });
    assert.equal(assignees.length, 1);
    assert.deepEqual(assignee, assignees[0]);
  });

  it('labels are sorted by their bytes', async () => {
    const { labels } = await world.issue(team.id, { labels: 'ä,b,B,a,10,9' });
    assert.deepEqual(labels, ['10', '9', 'B', 'a', 'b', 'ä']);
  });
});

describe('Todo', () => {
  it('has exactly its fields; its target has subscribed and votes, but no time_stats and no _links', async () => {
    const { iid, id } = await world.issue(team.id, { title: 'To do' });
    const reply = await world.api(`POST /projects/${team.id}/issues/${iid}/todo`);
    assert.equal(reply.status, 201);
    const { target, created_at, author, ...rest } = reply.body;
    assert.match(created_at, time);
    assert.deepEqual(keys(author), basicUser);
    assert.equal(author.id, 1);
    assert.equal(typeof rest.id, 'number');
    assert.deepEqual(
      { ...rest, id: 0 },
      {
        id: 0,
        project: {
          id: team.id,
          name: team.path,
          name_with_namespace: `Administrator / ${team.path}`,
          path: team.path,
          path_with_namespace: team.full_path,
        },
        action_name: 'marked',
        target_type: 'Issue',
        target_url: `${world.url}/${team.full_path}/issues/${iid}`,
        body: 'To do',
        state: 'pending',
      },
    );
    const without = new Set(['time_stats', 'references']);
    assert.deepEqual(keys(target), [...listed.filter((name) => !without.has(name)), 'subscribed'].toSorted());
    assert.deepEqual([target.id, target.subscribed, target.upvotes, target.downvotes], [id, true, 0, 0]);
  });
});

describe('User agent detail', () => {
  it('has user_agent, ip_address and spam_check_submitted', async () => {
    const headers = { 'user-agent': 'Agent/1.0' };
    const { body } = await world.api(`POST /projects/${team.id}/issues`, { json: { title: 'By' }, headers });
    const reply = await world.api(`GET /projects/${team.id}/issues/${body.iid}/user_agent_detail`);
    assert.deepEqual(reply.body, {
      user_agent: 'Agent/1.0',
      ip_address: '127.0.0.1',
      spam_check_submitted: false,
    });
  });
});
