/** Tests saved views of lists. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;
let member: SeededVisitor;
let lists: string[];

before(async () => {
  gantry = await startTestService();
  const group = await seedGroup(gantry);
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  member = await seedVisitor(gantry, { group: group.id, access_level: 30 });
  lists = [`/${project.full_path}`, `/groups/${group.full_path}/-`, '/dashboard'].flatMap((place) => [
    `${place}/issues`,
    `${place}/merge_requests`,
  ]);
});
after(async () => await gantry.close());

const fieldsIn = (text: string): Record<string, string> => {
  const [part = ''] = /<form method="post" action="\/-\/saved_views"[\s\S]*?<\/form>/.exec(text) ?? [];
  return Object.fromEntries(
    [...part.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&amp;', '&'),
    ]),
  );
};

/** Saves the filter of a list. Returns where it leads. */
const save = async (address: string, name: string, { visitor } = member) => {
  const { text } = await visitor.get(address);
  const sent = await visitor.post('/-/saved_views', { ...fieldsIn(text), name });
  assert.equal(sent.status, 303, sent.text);
  return sent.location ?? '';
};

/** Names of the views that a list offers, with their addresses. */
const viewsOn = async (path: string, { visitor } = member): Promise<[string, string][]> => {
  const { text } = await visitor.get(path);
  const [, menu = ''] = /#eye"[\s\S]*?<div class="items">([\s\S]*?)<form/.exec(text) ?? [];
  return [...menu.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)</g)].map(([, href = '', name = '']) => [
    name,
    href.replaceAll('&amp;', '&'),
  ]);
};

test('a user saves the filter of each list under a name, for themselves', async () => {
  for (const list of lists) {
    const filtered = `${list}?state=closed&labels=bug`;
    assert.equal(await save(filtered, ' Old  bugs '), filtered);
    assert.deepEqual(await viewsOn(list), [['Old bugs', filtered]], list);
  }
  const other = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  assert.deepEqual(await viewsOn(lists[0] ?? '', other), []);
  const { text } = await member.visitor.get(`${lists[0]}?state=closed&labels=bug`);
  assert.match(text, /aria-current="true">Old bugs</);
});

test('renames and deletes a view, not that of another user', async () => {
  const path = `/${project.full_path}/issues`;
  const address = await save(`${path}?search=crack`, 'Cracks');
  const { text } = await member.visitor.get(address);
  const [, id = ''] = /action="\/-\/saved_views\/(\d+)"/.exec(text) ?? [];
  const other = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  await other.visitor.get(path);
  for (const action of [`/-/saved_views/${id}`, `/-/saved_views/${id}/delete`])
    assert.equal((await other.visitor.post(action, { name: 'Mine' })).status, 404);
  await member.visitor.post(`/-/saved_views/${id}`, { name: 'Crevices', back: path });
  assert.ok((await viewsOn(path)).some(([name]) => name === 'Crevices'));
  const gone = await member.visitor.post(`/-/saved_views/${id}/delete?back=${encodeURIComponent(path)}`);
  assert.equal(gone.location, path);
  assert.equal(
    (await viewsOn(path)).some(([name]) => name === 'Crevices'),
    false,
  );
});

test('replaces the filter of a view, which keeps its name; not that of another user', async () => {
  const own = await seedProject(gantry, { visibility: 'private' });
  const user = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const path = `/${own.full_path}/issues`;
  assert.doesNotMatch((await user.visitor.get(`${path}?search=new`)).text, /saved_views\/replace/);
  await save(`${path}?search=old`, 'Mine', user);
  const { text } = await user.visitor.get(`${path}?search=new&labels=a%26b`);
  const [form = ''] = /action="\/-\/saved_views\/replace"[^]*?<\/form>/.exec(text) ?? [];
  const [, id = ''] = /<option value="(\d+)">Mine</.exec(form) ?? [];
  const [, query = ''] =
    /name="query" value="([^"]+)"/.exec(form)?.map((one) => one.replaceAll('&amp;', '&')) ?? [];
  assert.equal(query, 'labels=a%26b&search=new');
  const sent = { id, query, back: path };
  const other = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  await other.visitor.get(path);
  assert.equal((await other.visitor.post('/-/saved_views/replace', sent)).status, 404);
  assert.deepEqual(await viewsOn(path, user), [['Mine', `${path}?search=old`]]);
  const { status, location } = await user.visitor.post('/-/saved_views/replace', sent);
  assert.deepEqual([status, location], [303, `${path}?${query}`]);
  const shown = (await user.visitor.get(location ?? '')).text;
  assert.match(shown, /The view Mine was replaced\.[^]+aria-current="true">Mine</);
  assert.deepEqual(await viewsOn(path, user), [['Mine', `${path}?${query}`]]);
  assert.equal((await user.visitor.post('/-/saved_views/replace', { back: path })).status, 400);
});

test('refuses names that are taken or invalid, hidden projects, and more than twenty views', async () => {
  const own = await seedProject(gantry, { visibility: 'private' });
  const user = await seedVisitor(gantry, { project: own.id, access_level: 30 });
  const path = `/${own.full_path}/issues`;
  let tries = 0;
  const said = async (name: string): Promise<string> => {
    const address = await save(`${path}?search=try${(tries += 1)}`, name, user);
    const { text } = await user.visitor.get(address);
    return /class="flash alert" role="alert">([^<]*)</.exec(text)?.[1] ?? '';
  };
  assert.equal(await said('One'), '');
  assert.match(await said('One'), /has already been taken/);
  assert.match(await said(' '), /blank/);
  for (const length of [61, 256]) assert.match(await said('x'.repeat(length)), /too long/);
  const hidden = await user.visitor.post('/-/saved_views', {
    kind: 'issues',
    project_id: String(project.id),
    name: 'Hidden',
  });
  assert.equal(hidden.status, 404);
  await user.visitor.get(path);
  const fields = { kind: 'issues', project_id: String(own.id), back: path };
  for (let at = 2; at <= 21; at += 1)
    await user.visitor.post('/-/saved_views', { ...fields, name: `View ${at}`, query: `search=${at}` });
  const { text } = await user.visitor.get(`${path}?search=2`);
  assert.match(text, /at most 20 views/);
  const away = await user.visitor.post('/-/saved_views', {
    ...fields,
    name: 'Away',
    back: 'https://example.com',
  });
  assert.equal(away.location, '/');
});
