import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type IssueSeed,
  type SeededIssue,
  type SeededProject,
  type SeededUser,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let developer: SeededUser;
let stranger: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  [developer, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  for (const name of ['bug', 'late']) {
    await gantry.api(`POST /projects/${project.id}/labels`, { json: { name, color: '#FFAABB' } });
  }
  await gantry.api(`POST /projects/${project.id}/milestones`, { json: { title: 'v1' } });
});
after(async () => await gantry.close());

const issue = async (fields: Partial<IssueSeed> = {}): Promise<SeededIssue> =>
  await seedIssue(gantry, { project: project.id, ...fields });
const request = async (author?: number): Promise<SeededIssue> =>
  await seedMergeRequest(gantry, { project: project.id, ...(author !== undefined && { author }) });

const toPath = ({ iid }: SeededIssue, segment = 'issues'): string =>
  `/projects/${project.id}/${segment}/${iid}`;

const comment = async (path: string, body: string, as = developer.token): Promise<Reply> =>
  await gantry.api(`POST ${path}/notes`, { as, json: { body } });

const read = async (path: string): Promise<Reply['body']> =>
  (await gantry.api(`GET ${path}`, { as: developer.token })).body;

test('executes a comment of only actions and does not store it', async () => {
  const path = toPath(await issue());
  const made = await comment(path, '/label ~bug\n/milestone %v1\n/estimate 1h\n/close');
  assert.equal(made.status, 201, made.text);
  const { milestone } = await read(path);
  assert.deepEqual(made.body, {
    commands_changes: {
      milestone_id: milestone.id,
      labels: ['bug'],
      state_event: 'close',
      time_estimate: 3600,
    },
    summary: ['Applied milestone_id, labels, state_event, time_estimate.'],
  });
  const now = await read(path);
  assert.deepEqual(
    [now.state, now.labels, now.time_stats.time_estimate, now.user_notes_count],
    ['closed', ['bug'], 3600, 0],
  );
});

test('stores the text without the actions as the comment', async () => {
  const path = toPath(await issue());
  const made = await comment(path, 'Late again\n/label ~late\n```\n/close\n```\n/assign me');
  assert.equal(made.body.body, 'Late again\n```\n/close\n```');
  assert.deepEqual(made.body.commands_changes, { assignee_ids: [developer.id], labels: ['late'] });
  const now = await read(path);
  assert.deepEqual(
    [now.labels, now.assignee.username, now.state, now.user_notes_count],
    [['late'], developer.username, 'opened', 1],
  );
  assert.equal('commands_changes' in (await read(`${path}/notes/${made.body.id}`)), false);
});

test('/spend adds and subtracts time', async () => {
  const path = toPath(await issue());
  const spent = async (body: string) => {
    const { commands_changes } = (await comment(path, body)).body;
    return [commands_changes, (await read(path)).time_stats.total_time_spent];
  };
  assert.deepEqual(await spent('/spend 2h'), [{ spend_time: { duration: 7200 } }, 7200]);
  assert.deepEqual(await spent('/spend -30m'), [{ spend_time: { duration: -1800 } }, 5400]);
  assert.deepEqual(await spent('/remove_time_spent'), [{ spend_time: { duration: -5400 } }, 0]);
});

test('skips actions that the author of the comment may not do', async () => {
  const on = await issue();
  const path = toPath(on);
  const refused = await comment(path, '/close\n/label ~bug\n/title Other\n/spend 1h', stranger.token);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, { commands_only: ['Failed to apply commands.'] }],
  );
  const mixed = await comment(path, 'Hello\n/close', stranger.token);
  assert.deepEqual([mixed.body.body, mixed.body.commands_changes], ['Hello', {}]);
  assert.equal((await read(path)).state, 'opened');
  const own = toPath(await issue({ author: stranger.id }));
  const done = await comment(own, '/close\n/label ~bug\n/title Mine', stranger.token);
  assert.deepEqual(done.body.commands_changes, { title: 'Mine', state_event: 'close' });
  assert.deepEqual((await read(own)).labels, []);
});

test('lets every reader subscribe and add a todo', async () => {
  const path = toPath(await issue());
  const made = await comment(path, '/subscribe\n/todo', stranger.token);
  assert.deepEqual(made.body.commands_changes, { subscription_event: 'subscribe', todo_event: 'add' });
  const seen = await gantry.api(`GET ${path}`, { as: stranger.token });
  assert.equal(seen.body.subscribed, true);
  const todos = await gantry.api('GET /todos', { as: stranger.token });
  assert.equal(todos.body.length, 1);
  await comment(path, '/done', stranger.token);
  assert.deepEqual((await gantry.api('GET /todos', { as: stranger.token })).body, []);
});

test('marks a merge request as draft and ready, and leaves an issue unchanged', async () => {
  const path = toPath(await request(stranger.id), 'merge_requests');
  const { title } = await read(path);
  const after = async (body: string, as = developer.token) => {
    const { status } = await comment(path, body, as);
    const now = await read(path);
    return [status, now.title, now.draft];
  };
  assert.deepEqual(await after('/draft', stranger.token), [201, `Draft: ${title}`, true]);
  assert.deepEqual(await after('/draft'), [400, `Draft: ${title}`, true]);
  assert.deepEqual(await after('/title [WIP] Draft: x\n/ready'), [201, 'x', false]);
  assert.deepEqual(await after('/wip'), [201, 'WIP: x', true]);
  assert.deepEqual(await after('/wip'), [201, 'x', false]);
  assert.deepEqual(await after('/ready'), [400, 'x', false]);
  assert.deepEqual(await after('/title Draft:\n/ready'), [201, 'Draft:', true]);
  const long = 'y'.repeat(250);
  assert.deepEqual(await after(`/title ${long}\n/draft`), [201, `Draft: ${long}`.slice(0, 255), true]);
  const made = await gantry.api(`POST /projects/${project.id}/issues`, {
    json: { title: 'Plain', description: '/draft\n/wip' },
  });
  assert.equal(made.body.title, 'Plain');
  const issued = await comment(`/projects/${project.id}/issues/${made.body.iid}`, '/draft\n/wip');
  assert.equal(issued.status, 400);
});

test('executes the actions that a merge request supports', async () => {
  const path = toPath(await request(stranger.id), 'merge_requests');
  const made = await comment(path, '/label ~bug\n/confidential\n/due 2030-01-01\n/title Other\n/estimate 2h');
  assert.deepEqual(made.body.commands_changes, { title: 'Other', labels: ['bug'], time_estimate: 7200 });
  const now = await read(path);
  assert.deepEqual([now.title, now.labels], ['Other', ['bug']]);
  const closed = await comment(path, '/unlabel\n/close', stranger.token);
  assert.deepEqual(closed.body.commands_changes, { state_event: 'close' });
  assert.equal((await comment(path, '/close')).status, 400);
});

test('executes actions in a new thread and in a reply', async () => {
  const path = toPath(await issue());
  const begun = await gantry.api(`POST ${path}/discussions`, {
    as: developer.token,
    json: { body: 'Look\n/label ~bug' },
  });
  assert.equal(begun.body.notes[0].body, 'Look');
  const notes = `${path}/discussions/${begun.body.id}/notes`;
  const answer = await gantry.api(`POST ${notes}`, { as: developer.token, json: { body: '/close' } });
  assert.deepEqual(answer.body.commands_changes, { state_event: 'close' });
  const lost = await gantry.api(`POST ${path}/discussions/${'0'.repeat(40)}/notes`, {
    as: developer.token,
    json: { body: '/reopen' },
  });
  assert.equal(lost.status, 404);
  const now = await read(path);
  assert.deepEqual([now.state, now.labels, now.user_notes_count], ['closed', ['bug'], 1]);
});
