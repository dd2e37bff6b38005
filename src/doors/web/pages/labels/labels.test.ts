/** Tests the pages of labels of projects and groups. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let project: { id: number; full_path: string };
let reporter: Visitor;
let guest: Visitor;
let stranger: Visitor;
let ofProject: string;
let ofGroup: string;

const someone = async (level: number | null): Promise<Visitor> =>
  (await seedVisitor(gantry, { group: group.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  [ofProject, ofGroup] = [`/${project.full_path}/-/labels`, `/groups/${group.full_path}/-/labels`];
  [reporter, guest, stranger] = [await someone(20), await someone(10), await someone(null)];
});
after(async () => await gantry.close());

const labelOf = async (path: string, name: string) =>
  (await gantry.api(`GET ${path}/labels/${encodeURIComponent(name)}`)).body;
const inProject = async (name: string) => await labelOf(`/projects/${project.id}`, name);

test('creates, edits and deletes a label of a project', async () => {
  assert.match((await reporter.get(`${ofProject}/new`)).text, /<h1>New label<\/h1>[\s\S]+type="color"/);
  const sent = { name: ' area::<b> ', color: '#aa00bb', description: 'All of it', priority: '2' };
  assert.equal((await reporter.post(ofProject, sent)).location, ofProject);
  const made = await inProject('area::<b>');
  assert.deepEqual([made.color, made.description, made.priority], ['#aa00bb', 'All of it', 2]);
  const { text } = await reporter.get(ofProject);
  assert.match(text, /fill="#aa00bb"[\s\S]+&lt;b&gt;[\s\S]+All of it[\s\S]+0 open issues[\s\S]+Priority 2/);
  const edit = `${ofProject}/${made.id}`;
  assert.match((await reporter.get(`${edit}/edit`)).text, /value="area::&lt;b&gt;"/);
  await reporter.post(edit, { name: 'area', color: '#fff', description: '', priority: '' });
  const changed = await inProject('area');
  assert.deepEqual(
    [changed.id, changed.color, changed.description, changed.priority],
    [made.id, '#fff', null, null],
  );
  assert.match((await reporter.get(`${edit}/edit`)).text, /type="color" value="#ffffff"/);
  assert.equal((await reporter.post(`${edit}/delete`)).location, ofProject);
  assert.equal((await reporter.get(`${edit}/edit`)).status, 404);
});

test('shows the form again with its problem', async () => {
  await reporter.post(ofProject, { name: 'taken', color: '#123456' });
  const { id } = await inProject('taken');
  const bad: [object, RegExp][] = [
    [{ name: '', color: '#123456' }, /Name can&#39;t be blank/],
    [{ name: 'a,b', color: '#123456' }, /Name is invalid/],
    [{ name: 'other', color: 'url(x)' }, /Color must be a valid color code/],
    [{ name: 'taken', color: '#123456' }, /already/],
    [{ name: 'kept', color: '#123456', priority: '-1' }, /value="kept"[\s\S]+id="priority_error"/],
  ];
  for (const [sent, said] of bad) {
    const { status, text } = await reporter.post(ofProject, { ...sent });
    assert.deepEqual([status, said.test(text)], [422, true], JSON.stringify(sent));
  }
  const edited = await reporter.post(`${ofProject}/${id}`, { name: 'x'.repeat(300) });
  assert.match(edited.text, /Name is too long/);
  assert.equal((await reporter.post(`${ofProject}/${id}`, { priority: 'x' })).status, 422);
});

test('lists labels of the group in its projects, where they cannot be edited', async () => {
  await reporter.post(ofGroup, { name: 'of the group', color: '#00aa00' });
  const { id } = await labelOf(`/groups/${group.id}`, 'of the group');
  const { text } = await reporter.get(`${ofProject}?search=GROUP`);
  assert.match(text, /of the group[\s\S]+From the group <a href="\/groups\/group-/);
  assert.doesNotMatch(text, new RegExp(`labels/${id}/edit`));
  assert.match((await reporter.get(ofGroup)).text, new RegExp(`labels/${id}/edit`));
  assert.equal((await reporter.post(`${ofProject}/${id}`, { name: 'stolen' })).status, 404);
  assert.match((await reporter.get(`${ofProject}?search=no-such`)).text, /No labels match/);
});

test('lists labels with a priority first, unless sorted by name', async () => {
  for (const [name, priority] of [
    ['aaa', ''],
    ['zzz', '1'],
    ['yyy', '5'],
  ] as const)
    await reporter.post(ofProject, { name, color: '#112233', priority });
  const order = async (query: string): Promise<string[]> =>
    [...(await reporter.get(ofProject + query)).text.matchAll(/>(aaa|yyy|zzz)<\/(?:a|span)>/g)].map(
      ([, name = '']) => name,
    );
  assert.deepEqual(await order(''), ['zzz', 'yyy', 'aaa']);
  assert.deepEqual(await order('?order=title'), ['aaa', 'yyy', 'zzz']);
});

test('subscribes a guest, once or twice, who may change nothing', async () => {
  await reporter.post(ofProject, { name: 'watched', color: '#112233' });
  const { id } = await inProject('watched');
  const { text } = await guest.get(ofProject);
  assert.match(text, /Subscribe to watched/);
  assert.doesNotMatch(text, /New label|>Edit</);
  for (let time = 0; time < 2; time += 1)
    assert.equal((await guest.post(`${ofProject}/${id}/subscribe`)).location, ofProject);
  assert.match((await guest.get(ofProject)).text, /Unsubscribe from watched/);
  const searched = `${ofProject}?search=watched`;
  assert.match((await guest.get(searched)).text, /unsubscribe\?search=watched"/);
  assert.equal((await guest.post(`${ofProject}/${id}/unsubscribe?search=watched`)).location, searched);
  assert.match((await guest.get(ofProject)).text, /Subscribe to watched/);
  for (const path of [ofProject, `${ofProject}/${id}`, `${ofProject}/${id}/delete`, ofGroup])
    assert.equal((await guest.post(path, { name: 'x', color: '#fff' })).status, 403, path);
  for (const path of [`${ofProject}/new`, `${ofProject}/${id}/edit`])
    assert.equal((await guest.get(path)).status, 403, path);
});

test('hidden and missing places answer alike', async () => {
  for (const [hidden, missing] of [
    [ofProject, '/no/such/-/labels'],
    [ofGroup, '/groups/no-such/-/labels'],
  ] as const) {
    const [seen, other] = [await stranger.get(hidden), await stranger.get(missing)];
    assert.deepEqual([seen.status, seen.text], [404, other.text]);
    assert.match((await openVisitor(gantry).get(hidden)).location ?? '', /^\/users\/sign_in/);
  }
});

test('promotes a label of a project to its group, for those who may change both', async () => {
  const maintainer = await someone(40);
  const onlyHere = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  await maintainer.get(`${ofProject}/new`);
  await maintainer.post(ofProject, { name: 'wide', color: '#123456' });
  const { id } = await inProject('wide');
  const edit = `${ofProject}/${id}/edit`;
  assert.match((await maintainer.get(edit)).text, /Promote label/);
  assert.ok(!(await onlyHere.visitor.get(edit)).text.includes('Promote label'));
  assert.equal((await onlyHere.visitor.post(`${ofProject}/${id}/promote`)).status, 403);
  assert.equal((await stranger.post(`${ofProject}/${id}/promote`)).status, 404);
  assert.equal((await maintainer.post(`${ofProject}/${id}/promote`)).location, ofProject);
  assert.match((await maintainer.get(ofProject)).text, /The label wide was promoted to the group\./);
  assert.equal((await labelOf(`/groups/${group.id}`, 'wide')).id, id);
  assert.ok(!(await maintainer.get(`${ofGroup}/${id}/edit`)).text.includes('Promote label'));
  assert.equal((await maintainer.post(`${ofProject}/${id}/promote`)).status, 404);
});
