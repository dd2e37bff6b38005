/** Tests the to-do list. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedIssue, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: { id: number; username: string; visitor: Visitor };
let other: typeof user;
before(async () => {
  gantry = await startTestService();
  [user, other] = [await seedVisitor(gantry), await seedVisitor(gantry)];
});
after(async () => await gantry.close());

/** Creates a project with an issue that mentions the user. */
const mention = async (body = `@${user.username} look <script>`) => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const title = unique('Issue');
  const { iid } = await seedIssue(gantry, { project: project.id, title });
  await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes`, { json: { body } });
  return { ...project, iid, title };
};

const list = async (query = '') => (await user.visitor.get(`/dashboard/todos${query}`)).text;

/** Address of the form of a todo. */
const formOf = (text: string, title: string, word: 'Done' | 'Undo'): string => {
  const [form = ''] = text.split('<form').filter((part) => part.includes(`aria-label="${word}: ${title}"`));
  return /action="([^"]+)"/.exec(form)?.[1] ?? 'none';
};

test('marks todos as done, and as pending again', async () => {
  const { title } = await mention();
  const text = await list();
  assert.ok(text.includes(title));
  assert.ok(text.includes('look &lt;script&gt;'), 'the comment is shown as text');
  const done = formOf(text, title, 'Done');
  const answer = await user.visitor.post(done, { back: '/dashboard/todos?type=Issue' });
  assert.deepEqual([answer.status, answer.location], [303, '/dashboard/todos?type=Issue']);
  assert.equal((await list()).includes(title), false);
  const undo = formOf(await list('?state=done'), title, 'Undo');
  assert.equal((await user.visitor.post(undo)).location, '/dashboard/todos');
  assert.ok((await list()).includes(title));
  assert.equal((await user.visitor.post(done, { back: '//evil.example' })).location, '/');
});

test('groups the items of a target below its title', async () => {
  const { title, iid, full_path, id } = await mention();
  const done = formOf(await list(), title, 'Done');
  await user.visitor.post(done);
  const json = { body: `@${user.username} again` };
  await gantry.api(`POST /projects/${id}/issues/${iid}/notes`, { json });
  await user.visitor.post(formOf(await list(), title, 'Done'));
  const groups = (await list('?state=done')).split('<section class="todo-group">').slice(1);
  const own = groups.filter((part) => part.includes(title));
  assert.equal(own.length, 1);
  assert.match(own[0] ?? '', new RegExp(`<h2><a href="/${full_path}/issues/${iid}">${title}</a>`));
  assert.equal(own[0]?.split('data-row>').length, 3);
});

test('the tabs count what is to do and what is done, as the list is filtered', async () => {
  const own = await seedVisitor(gantry);
  const [first] = [await mention(`@${own.username} one`), await mention(`@${own.username} two`)];
  const countsOf = async (query = ''): Promise<string[]> => {
    const { text } = await own.visitor.get(`/dashboard/todos${query}`);
    const [nav = ''] = /aria-label="To-do items by state"[^]*?<\/nav>/.exec(text) ?? [];
    return [...nav.matchAll(/class="count">(\d+)</g)].map(([, count = '']) => count);
  };
  assert.deepEqual(await countsOf(), ['2', '0']);
  const { text } = await own.visitor.get('/dashboard/todos');
  await own.visitor.post(formOf(text, first.title, 'Done'));
  for (const state of ['', '?state=done']) assert.deepEqual(await countsOf(state), ['1', '1'], state);
  assert.deepEqual(await countsOf(`?project_id=${first.id}`), ['0', '1']);
});

test('keeps one pending todo for a target', async () => {
  const project = await mention();
  const first = formOf(await list(), project.title, 'Done');
  await user.visitor.post(first);
  await gantry.api(`POST /projects/${project.id}/issues/${project.iid}/notes`, {
    json: { body: `@${user.username} again` },
  });
  assert.ok((await list()).includes('again'));
  assert.equal((await user.visitor.post(first.replace(/done$/, 'undo'))).status, 303);
  assert.equal((await list()).split(`aria-label="Done: ${project.title}"`).length, 2);
});

test('filters by project, group and author, and sorts', async () => {
  const { visitor, username } = await seedVisitor(gantry);
  const author = await seedVisitor(gantry);
  const group = await seedGroup(gantry, { visibility: 'public' });
  const add = async (namespace: number | undefined, by: string) => {
    const project = await seedProject(gantry, {
      visibility: 'public',
      ...(namespace !== undefined && { namespace }),
    });
    const title = unique('Issue');
    const { iid } = await seedIssue(gantry, { project: project.id, title });
    const json = { body: `@${username} look` };
    await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes${by}`, { json });
    return { ...project, title };
  };
  const first = await add(group.id, '');
  const second = await add(group.id, `?sudo=${author.id}`);
  const third = await add(undefined, '');
  const titles = async (query = ''): Promise<string[]> => {
    const { status, text } = await visitor.get(`/dashboard/todos?${query}`);
    assert.equal(status, 200, text);
    return [...text.matchAll(/<h2><a [^>]+>(Issue-[^<]+)</g)].map(([, title = '']) => title);
  };
  const [a, b, c] = [first, second, third].map(({ title }) => title);
  assert.deepEqual(await titles(), [c, b, a]);
  assert.deepEqual(await titles('sort=asc'), [a, b, c]);
  assert.deepEqual(await titles(`project_id=${second.id}`), [b]);
  assert.deepEqual(await titles(`group_id=${group.id}`), [b, a]);
  assert.deepEqual(await titles(`author_id=${author.id}&sort=asc`), [b]);
  assert.deepEqual(await titles('project_id=&group_id=&author_id='), [c, b, a]);
  const { text } = await visitor.get(`/dashboard/todos?group_id=${group.id}`);
  assert.ok(text.includes(`<option value="${group.id}" selected>${group.full_path}<`));
  assert.ok(
    text.includes(`<option value="${third.id}">${third.full_path}<`) && text.includes(author.username),
  );
});

test('offers the groups above the projects of todos', async () => {
  const { visitor, username } = await seedVisitor(gantry);
  const top = await seedGroup(gantry, { visibility: 'public' });
  const middle = await seedGroup(gantry, { visibility: 'public', parent: top.id });
  const inner = await seedGroup(gantry, { visibility: 'public', parent: middle.id });
  const project = await seedProject(gantry, { visibility: 'public', namespace: inner.id });
  const { iid } = await seedIssue(gantry, { project: project.id, title: 'Deep' });
  const json = { body: `@${username} look` };
  await gantry.api(`POST /projects/${project.id}/issues/${iid}/notes`, { json });
  const { text } = await visitor.get(`/dashboard/todos?group_id=${top.id}`);
  assert.match(text, />Deep</);
  const [field = ''] = /<select[^>]* name="group_id".*?<\/select>/s.exec(text) ?? [];
  const options = [...field.matchAll(/<option value="(\d+)"[^>]*>([^<]*)</g)];
  assert.deepEqual(
    options.map(([, id, path]) => [Number(id), path]),
    [top, middle, inner].map(({ id, full_path }) => [id, full_path]),
  );
});

test('filters todos by type and reason', async () => {
  const { title } = await mention();
  assert.ok((await list('?type=Issue&action=')).includes(title));
  assert.equal((await list('?type=MergeRequest')).includes(title), false);
  assert.equal((await list('?action=assigned')).includes(title), false);
  for (const query of ['type=Epic', 'action=shout', 'state=lost', 'project_id=x']) {
    assert.equal((await user.visitor.get(`/dashboard/todos?${query}`)).status, 400, query);
  }
});

test('hides todos of others, and those on what became hidden', async () => {
  const project = await mention();
  const done = formOf(await list(), project.title, 'Done');
  await other.visitor.get('/dashboard/todos');
  const foreign = await other.visitor.post(done);
  const missing = await other.visitor.post('/dashboard/todos/99999999/done');
  assert.deepEqual([foreign.status, foreign.text], [404, missing.text]);
  await gantry.api(`PUT /projects/${project.id}`, { json: { visibility: 'private' } });
  assert.equal((await list()).includes(project.title), false);
  assert.equal((await user.visitor.post(done)).status, 404);
});

test('marks the todos of a filter as done', async () => {
  const [shown, kept] = [await mention(), await mention()];
  const query = `?project_id=${shown.id}`;
  const text = await list(query);
  assert.match(text, />Mark 1 item done<\/button>/);
  const form =
    /<form method="post" action="\/dashboard\/todos\/done_all">[^]*?<\/form>/.exec(text)?.[0] ?? '';
  const fields = Object.fromEntries(
    [...form.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  assert.equal(fields['project_id'], String(shown.id));
  const answer = await user.visitor.post('/dashboard/todos/done_all', fields);
  assert.deepEqual([answer.status, answer.location], [303, `/dashboard/todos${query}`]);
  const now = await list();
  assert.deepEqual([now.includes(shown.title), now.includes(kept.title)], [false, true]);
  assert.ok(now.includes('1 to-do item was marked as done.'));
  assert.match(now, />Mark all done<\/button>/);
});

test('marks all todos as done', async () => {
  const { title } = await mention();
  assert.ok((await list()).includes('action="/dashboard/todos/done_all"'));
  const answer = await user.visitor.post('/dashboard/todos/done_all', { back: '/' });
  assert.deepEqual([answer.status, answer.location], [303, '/']);
  const text = await list();
  assert.deepEqual([text.includes(title), text.includes('Nothing to do')], [false, true]);
  assert.equal(
    (await user.visitor.post('/dashboard/todos/done_all', { authenticity_token: null })).status,
    422,
  );
});

test('counts at most a thousand items of the tab that is not shown', async () => {
  const { id: project_id, iid } = await mention();
  const issue = (await gantry.api(`GET /projects/${project_id}/issues/${iid}`)).body;
  const todo = { project_id, target_type: 'Issue', target_id: issue.id, action: 'mentioned' } as const;
  const add = async (count: number): Promise<void> => {
    const row = { ...todo, user_id: other.id, author_id: other.id, body: 'x', state: 'done' } as const;
    const times = { note_id: null, created_at: 1, updated_at: 1 };
    const rows = Array.from({ length: count }, () => ({ ...row, ...times }));
    await gantry.service.platform.store.write(
      async ({ db }) => await db.insertInto('todos').values(rows).execute(),
    );
  };
  const count = async (query = ''): Promise<string | undefined> => {
    const { text } = await other.visitor.get(`/dashboard/todos${query}`);
    return />Done <span class="count">([^<]*)</.exec(text)?.[1];
  };
  await add(1_000);
  assert.equal(await count(), '1000');
  await add(2);
  assert.equal(await count(), '1,000+');
  assert.equal(await count('?state=done'), '1002');
});
