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

test('copies labels and the milestone of another record of the project', async () => {
  const from = await issue();
  await comment(toPath(from), '/label ~bug\n/milestone %v1');
  const secret = await issue({ confidential: 1 });
  await comment(toPath(secret), '/label ~late');
  const path = toPath(await issue({ author: stranger.id }));
  await comment(path, '/label ~late');
  const made = await comment(path, `/copy_metadata #${from.iid}`);
  assert.deepEqual(made.body.commands_changes.labels.toSorted(), ['bug', 'late'], made.text);
  const now = await read(path);
  assert.deepEqual([now.labels.toSorted(), now.milestone.title], [['bug', 'late'], 'v1']);
  const target = await request();
  await comment(toPath(target, 'merge_requests'), `/copy_metadata #${from.iid}`);
  const other = toPath(await request(), 'merge_requests');
  await comment(other, `/copy_metadata !${target.iid}`);
  assert.deepEqual((await read(other)).labels, ['bug']);
  for (const argument of ['#999999', '!999999', 'nothing', ''])
    assert.equal((await comment(path, `/copy_metadata ${argument}`)).status, 400, argument);
  // A record that the author does not see is like a missing one, also in the description of a new issue.
  const hidden = await gantry.api(`POST /projects/${project.id}/issues`, {
    as: stranger.token,
    json: { title: 'Curious', description: `/copy_metadata #${secret.iid}` },
  });
  assert.deepEqual([hidden.body.labels, hidden.body.description], [[], '']);
});

test('links issues: related ones, and those that block others', async () => {
  const on = await issue();
  const path = toPath(on);
  const [related, blocked, blocker] = [await issue(), await issue(), await issue()];
  const elsewhere = await seedProject(gantry);
  const far = await seedIssue(gantry, { project: elsewhere.id });
  const body = [
    `/relate #${related.iid} #999999 ${elsewhere.full_path}#${far.iid}`,
    `/blocks #${blocked.iid}`,
    `/blocked_by #${blocker.iid}`,
  ].join('\n');
  const made = await comment(path, body);
  const full = ({ iid }: SeededIssue): string => `${project.full_path}#${iid}`;
  // The developer may not link issues of the other project.
  assert.deepEqual(
    made.body.commands_changes,
    { relate: [full(related)], blocks: [full(blocked)], blocked_by: [full(blocker)] },
    made.text,
  );
  const links = (await gantry.api(`GET ${path}/links`)).body as { iid: number; link_type: string }[];
  assert.deepEqual(
    links.map(({ iid, link_type }) => [iid, link_type]),
    [
      [related.iid, 'relates_to'],
      [blocked.iid, 'blocks'],
      [blocker.iid, 'is_blocked_by'],
    ],
  );
  assert.equal((await comment(path, `/relate #${related.iid}`)).status, 400);
  assert.equal((await comment(path, `/relate #${far.iid}`, stranger.token)).status, 400);
});

test('moves and clones an issue into a project that the author of the comment may write to', async () => {
  const to = await seedProject(gantry);
  const path = toPath(await issue());
  assert.equal((await comment(path, `/move ${to.full_path}`)).status, 400);
  await seedMember(gantry, { user: developer.id, project: to.id, access_level: 20 });
  await comment(path, 'A remark');
  const cloned = await comment(path, `/clone ${to.full_path} --with_notes`);
  assert.match(cloned.body.commands_changes.clone, new RegExp(`^${to.full_path}#\\d+$`), cloned.text);
  const here = await comment(path, '/title Renamed\n/clone');
  const iid = Number(here.body.commands_changes.clone.split('#')[1]);
  assert.equal((await read(toPath({ iid } as SeededIssue))).title, 'Renamed');
  const moved = await comment(path, `/move ${to.full_path}`);
  assert.match(moved.body.commands_changes.move, new RegExp(`^${to.full_path}#\\d+$`), moved.text);
  assert.equal((await read(path)).state, 'closed');
  const titles = (await gantry.api(`GET /projects/${to.id}/issues?sort=asc`)).body;
  assert.deepEqual(
    titles.map((one: { user_notes_count: number; title: string }) => [one.title, one.user_notes_count])
      .length,
    2,
  );
  assert.equal((await comment(path, `/move ${to.full_path}`)).status, 400);
});

test('one comment clones once, and links at most 50 issues', async () => {
  const path = toPath(await issue());
  const cloned = await comment(path, 'Thrice\n/clone\n/clone\n/clone');
  const { clone, skipped } = cloned.body.commands_changes;
  assert.match(clone, /#\d+$/, cloned.text);
  assert.deepEqual(skipped, { clone: 'One comment can do this once.' });
  const [newest, older] = (await gantry.api(`GET /projects/${project.id}/issues?order_by=created_at`)).body;
  assert.deepEqual([clone, toPath(older)], [`${project.full_path}#${newest.iid}`, path]);
  const others: SeededIssue[] = [];
  for (let at = 0; at < 4; at += 1) others.push(await issue());
  const [a, b, c, d] = others.map(({ iid }) => `#${iid}`);
  const missing = Array.from({ length: 47 }, (_, at) => `#${900_000 + at}`).join(' ');
  const linked = await comment(path, `/relate ${a} ${b} ${missing}\n/blocks ${c} ${d}\n/blocked_by ${d}`);
  const full = (sign = '') => `${project.full_path}${sign}`;
  assert.deepEqual(linked.body.commands_changes, {
    relate: [full(a), full(b)],
    blocks: [full(c)],
    skipped: { blocks: 'One comment can link 50 issues.', blocked_by: 'One comment can link 50 issues.' },
  });
  assert.match(linked.body.summary.join(' '), /^Applied relate, blocks\. \/blocks was skipped: /);
  assert.equal((await gantry.api(`GET ${path}/links`)).body.length, 3);
});
