/** @gitbeaker/rest, unmodified, through the whole life of an issue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { sampleKeys } from '../support/repositories/ssh_keys.ts';

let gantry: TestService;
let root: InstanceType<typeof Gitlab<false>>;

before(async () => {
  gantry = await startTestService();
  root = new Gitlab({ host: gantry.url, token: rootToken });
});
after(async () => await gantry.close());

const idOf = (record: unknown): number => Number((record as { id: unknown }).id);

test('users, groups, projects and members come first', async () => {
  const user = await root.Users.create({
    email: 'ada@example.com',
    username: 'ada',
    name: 'Ada Lovelace',
    password: 'a long enough pass phrase',
    skipConfirmation: true,
  });
  const group = await root.Groups.create('Team', 'team', { visibility: 'private' });
  const project = await root.Projects.create({ name: 'engine', namespaceId: group.id });
  assert.equal(project['path_with_namespace'], 'team/engine');
  await root.GroupMembers.add(group.id, 30, { userId: idOf(user) });
  const members = await root.GroupMembers.all(group.id);
  assert.deepEqual(members.map((member) => member.username).toSorted(), ['ada', 'root']);
  assert.equal((await root.Projects.show('team/engine')).id, project.id);
});

test('an issue is created, listed, edited, tracked, commented, moved, closed and deleted', async () => {
  const adaId = idOf((await root.Users.all({ username: 'ada' }))[0]);
  const made = await root.UserImpersonationTokens.create(adaId, 'gitbeaker', ['api'], {
    expiresAt: '2100-01-01',
  });
  const ada = new Gitlab({ host: gantry.url, token: String((made as { token: unknown }).token) });

  await root.ProjectLabels.create('team/engine', 'bug', '#ff0000');
  const milestone = await root.ProjectMilestones.create('team/engine', 'v1');
  const issue = await ada.Issues.create('team/engine', 'It does not turn', {
    description: 'At all.',
    labels: 'bug,urgent',
    milestoneId: milestone.id,
    assigneeIds: [1],
    dueDate: '2030-01-01',
  });
  assert.equal(issue.iid, 1);
  assert.equal(issue.author.username, 'ada');
  assert.deepEqual(issue.labels, ['bug', 'urgent']);
  assert.equal(issue.milestone?.title, 'v1');
  assert.equal(issue.assignees?.[0]?.username, 'root');

  const bugs = await ada.Issues.all({ projectId: 'team/engine', labels: 'bug', state: 'opened' });
  assert.deepEqual(
    bugs.map((one) => one.iid),
    [1],
  );
  const assigned = await root.Issues.all({ scope: 'assigned_to_me' });
  assert.deepEqual(
    assigned.map((one) => one.id),
    [issue.id],
  );
  assert.equal((await ada.Issues.all({ groupId: 'team' })).length, 1);

  const edited = await ada.Issues.edit('team/engine', 1, {
    title: 'It turns slowly',
    labels: 'bug',
    confidential: true,
  });
  assert.equal(edited.title, 'It turns slowly');
  assert.deepEqual(edited.labels, ['bug']);
  assert.equal(edited.confidential, true);

  assert.equal((await ada.Issues.addTimeEstimate('team/engine', 1, '3h30m')).time_estimate, 12_600);
  assert.equal((await ada.Issues.addSpentTime('team/engine', 1, '1h')).human_total_time_spent, '1h');
  assert.equal((await ada.Issues.showTimeStats('team/engine', 1)).human_time_estimate, '3h 30m');

  const note = await root.IssueNotes.create('team/engine', 1, 'Looking at it, @ada');
  assert.equal(note.body, 'Looking at it, @ada');
  const notes = await ada.IssueNotes.all('team/engine', 1);
  assert.ok(notes.some((one) => one.system && one.body === 'made the issue confidential'));
  await root.IssueAwardEmojis.award('team/engine', 1, 'thumbsup');
  assert.equal((await ada.Issues.show(1, { projectId: 'team/engine' })).upvotes, 1);
  const [todo] = await ada.TodoLists.all();
  assert.equal(todo?.action_name, 'mentioned');
  await ada.TodoLists.done({ todoId: idOf(todo) });
  assert.equal((await ada.TodoLists.all()).length, 0);

  await root.Issues.unsubscribe('team/engine', 1);
  assert.equal((await root.Issues.subscribe('team/engine', 1))['subscribed'], true);
  assert.equal((await root.Issues.createTodo('team/engine', 1)).target_type, 'Issue');

  const target = await root.Projects.create({
    name: 'archive',
    namespaceId: idOf(await root.Groups.show('team')),
  });
  const moved = await root.Issues.move('team/engine', 1, target.id);
  assert.equal(moved.project_id, target.id);
  assert.equal((await root.Issues.show(1, { projectId: 'team/engine' })).state, 'closed');

  const closed = await ada.Issues.edit(target.id, moved.iid, { stateEvent: 'close' });
  assert.equal(closed.state, 'closed');
  await root.Issues.remove(target.id, moved.iid);
  await assert.rejects(root.Issues.show(moved.iid, { projectId: target.id }), /404|Not found/i);
});

test('pages are followed to their end', async () => {
  const project = await root.Projects.create({ name: 'many' });
  for (let n = 1; n <= 25; n += 1) await root.Issues.create(project.id, `Issue ${n}`);
  const all = await root.Issues.all({ projectId: project.id, perPage: 10 });
  assert.equal(all.length, 25);
  assert.equal(new Set(all.map((one) => one.iid)).size, 25);
});

test('the settings of the instance are read and edited', async () => {
  const before = await root.ApplicationSettings.show();
  assert.equal(before['default_projects_limit'], 100_000);
  const after = await root.ApplicationSettings.edit({ defaultProjectsLimit: 7, signupEnabled: false });
  assert.deepEqual([after['default_projects_limit'], after['signup_enabled']], [7, false]);
  assert.equal((await root.ApplicationSettings.show())['default_projects_limit'], 7);
  await root.ApplicationSettings.edit({ defaultProjectsLimit: 100_000, signupEnabled: true });
});

test('an administrator impersonates: by sudo, and by a token made for somebody', async () => {
  const ada = (await root.Users.all({ username: 'ada' }))[0];
  const sudo = new Gitlab({ host: gantry.url, token: rootToken, sudo: 'ada' });
  assert.equal((await sudo.Users.showCurrentUser()).username, 'ada');
  const made = await root.UserImpersonationTokens.create(idOf(ada), 'again', ['read_user'], {
    expiresAt: '2100-01-01',
  });
  const as = new Gitlab({ host: gantry.url, token: String((made as { token: unknown }).token) });
  assert.equal((await as.Users.showCurrentUser()).username, 'ada');
  await root.UserImpersonationTokens.remove(idOf(ada), idOf(made));
  await assert.rejects(as.Users.showCurrentUser(), /401|Unauthorized/);
});

test('keys, applications and snippets are there, too', async () => {
  const key = await root.UserSSHKeys.create('laptop', sampleKeys.ed25519.text);
  assert.deepEqual(
    (await root.UserSSHKeys.all()).map(({ title }) => title),
    ['laptop'],
  );
  await root.UserSSHKeys.remove(key.id);
  const made = await root.Applications.create('Robot', 'https://app.example.com/callback', 'api');
  assert.equal((await root.Applications.all()).length, 1);
  await root.Applications.remove(made.id);
  // As clients of this version of the API send it.
  const attributes: object = { fileName: 'a.txt', content: 'text', visibility: 'private' };
  const snippet = await root.Snippets.create('Notes', attributes);
  assert.equal(snippet.title, 'Notes');
});

test('snippets of a project have files and comments', async () => {
  const project = await root.Projects.create({ name: 'snippets', visibility: 'internal' });
  const files = [
    { filePath: 'a.ts', content: 'const a = 1;' },
    { filePath: 'b.md', content: '# B' },
  ];
  const attributes: object = { files, visibility: 'internal' };
  const snippet = await root.ProjectSnippets.create(project.id, 'Several', attributes);
  const paths = (record: unknown): string[] =>
    ((record as { files: { path: string }[] }).files ?? []).map(({ path }) => path);
  assert.deepEqual(paths(snippet), ['a.ts', 'b.md']);
  const changes: object = { files: [{ action: 'delete', filePath: 'a.ts' }] };
  assert.deepEqual(paths(await root.ProjectSnippets.edit(project.id, snippet.id, changes)), ['b.md']);
  assert.equal(
    await root.ProjectSnippets.showRepositoryFileContent(project.id, snippet.id, 'main', 'b.md'),
    '# B',
  );
  const note = await root.ProjectSnippetNotes.create(project.id, snippet.id, 'Seen');
  const edited = await root.ProjectSnippetNotes.edit(project.id, snippet.id, note.id, { body: 'Seen it' });
  assert.equal(edited.body, 'Seen it');
  const thread = await root.ProjectSnippetDiscussions.create(project.id, snippet.id, 'Why?');
  await root.ProjectSnippetDiscussions.addNote(project.id, snippet.id, thread.id, 'So');
  const threads = await root.ProjectSnippetDiscussions.all(project.id, snippet.id);
  assert.deepEqual(
    threads.map(({ notes }) => (notes ?? []).length),
    [1, 2],
  );
  const award = await root.ProjectSnippetAwardEmojis.award(project.id, snippet.id, 'heart');
  assert.equal((await root.ProjectSnippetAwardEmojis.all(project.id, snippet.id)).length, 1);
  await root.ProjectSnippetAwardEmojis.remove(project.id, snippet.id, award.id);
  await root.ProjectSnippetNotes.remove(project.id, snippet.id, note.id);
  await root.ProjectSnippets.remove(project.id, snippet.id);
});

test('users have further addresses', async () => {
  const email = await root.UserEmails.create('further@example.com');
  assert.deepEqual([email.email, email.confirmed_at], ['further@example.com', null]);
  assert.equal((await root.UserEmails.show(email.id)).id, email.id);
  assert.equal((await root.UserEmails.all()).length, 1);
  await root.UserEmails.remove(email.id);
  const [ada] = await root.Users.all({ username: 'ada' });
  const confirmed = await root.UserEmails.create('ada@example.org', {
    userId: idOf(ada),
    skipConfirmation: true,
  });
  assert.match(confirmed.confirmed_at, /^\d{4}-/);
  await root.UserEmails.remove(confirmed.id, { userId: idOf(ada) });
});

test('boards have lists in an order, and issues are moved in them', async () => {
  const project = await root.Projects.create({ name: 'boards' });
  const board = await root.ProjectIssueBoards.create(project.id, 'Work');
  const lists = [];
  for (const name of ['todo', 'doing']) {
    const label = await root.ProjectLabels.create(project.id, name, '#00ff00');
    lists.push(await root.ProjectIssueBoards.createList(project.id, board.id, { labelId: label.id }));
  }
  await root.ProjectIssueBoards.editList(project.id, board.id, idOf(lists[1]), 0);
  await root.ProjectIssueBoards.edit(project.id, board.id, { name: 'Development' });
  const [shown] = await root.ProjectIssueBoards.all(project.id);
  assert.deepEqual(
    [shown?.name, (shown?.lists ?? []).map(({ label }) => label?.name)],
    ['Development', ['doing', 'todo']],
  );
  const [first, second] = [
    await root.Issues.create(project.id, 'First'),
    await root.Issues.create(project.id, 'Second'),
  ];
  await root.Issues.reorder(project.id, second.iid, { moveAfterId: first.id });
  const issues = await root.Issues.all({
    projectId: project.id,
    orderBy: 'relative_position',
    sort: 'asc',
  });
  assert.deepEqual(
    issues.map(({ title }) => title),
    ['Second', 'First'],
  );
  await root.ProjectIssueBoards.remove(project.id, board.id);
  assert.deepEqual(await root.ProjectIssueBoards.all(project.id), []);
});
