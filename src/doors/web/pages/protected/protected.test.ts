/** Tests the pages of protected branches and tags. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let master: SeededVisitor;
let developer: SeededVisitor;
let stranger: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  [master, developer, stranger] = [
    await seedVisitor(gantry),
    await seedVisitor(gantry),
    await seedVisitor(gantry),
  ];
});
after(async () => await gantry.close());

const place = async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const rules = async (kind: 'branches' | 'tags') =>
    (await gantry.api(`GET /projects/${project.id}/protected_${kind}`)).body;
  const base = `/${project.full_path}/-`;
  return { project, rules, branches: `${base}/protected_branches`, tags: `${base}/protected_tags` };
};

test('protects, changes and unprotects branches', async () => {
  const { project, rules, branches } = await place();
  await seedCommit(gantry, project.id, { a: 'b' });
  for (const branch of ['release/1', 'release/2', 'other'])
    await seedCommit(gantry, project.id, { a: branch }, { branch, from: 'main' });
  const { visitor } = master;
  const before = (await rules('branches')).length;
  const added = await visitor.post(branches, {
    name: 'release/*',
    push_access_level: '0',
    merge_access_level: '30',
    allow_force_push: '0',
  });
  assert.deepEqual([added.status, added.location], [303, branches]);
  await visitor.post(branches, { name: 'not-yet', push_access_level: '40', merge_access_level: '40' });
  const { text } = await visitor.get(branches);
  assert.match(text, /release\/\*<\/code>[\s\S]*Allowed to push: Nobody[\s\S]*Matches 2 branches/);
  assert.match(text, /not-yet<\/code>[\s\S]*No such branch yet/);
  await visitor.post(`${branches}/change`, {
    name: 'release/*',
    push_access_level: '40',
    merge_access_level: '40',
    allow_force_push: '1',
  });
  const rule = (await rules('branches')).find(({ name }: { name: string }) => name === 'release/*');
  assert.deepEqual([rule.push_access_levels[0].access_level, rule.allow_force_push], [40, true]);
  assert.match((await visitor.get(branches)).text, /Force push allowed/);
  for (const name of ['release/*', 'not-yet']) {
    assert.equal((await visitor.post(`${branches}/delete`, { name })).location, branches);
  }
  assert.equal((await rules('branches')).length, before);
  assert.equal((await visitor.post(`${branches}/delete`, { name: 'release/*' })).status, 404);
  assert.equal((await visitor.post(`${branches}/change`, { name: 'release/*' })).status, 404);
});

test('protects and unprotects tags of an empty repository', async () => {
  const { rules, tags } = await place();
  const { visitor } = master;
  assert.match((await visitor.get(tags)).text, /No protected tags/);
  await visitor.post(tags, { name: ' v* ', create_access_level: '30' });
  const [rule] = await rules('tags');
  assert.deepEqual([rule.name, rule.create_access_levels[0].access_level], ['v*', 30]);
  const { text } = await visitor.get(tags);
  assert.match(text, /Developers and maintainers<\/span><span>Matches no tags yet/);
  await visitor.post(`${tags}/delete`, { name: 'v*' });
  assert.deepEqual(await rules('tags'), []);
});

test('shows problems, keeps the input and changes nothing', async () => {
  const { rules, branches } = await place();
  const { visitor } = master;
  await visitor.post(branches, { name: 'main' });
  const before = await rules('branches');
  const cases: [string, Record<string, string>, RegExp][] = [
    ['', { name: ' ' }, /id="name_error">Branch can&#39;t be blank/],
    ['', { name: 'main', push_access_level: '30' }, /Protected branch &#39;main&#39; already exists/],
    ['', { name: '<b>', push_access_level: '10' }, /value="&lt;b&gt;"[\s\S]*does not have a valid value/],
    ['', { name: 'x', push_access_level: 'x' }, /Allowed to push is invalid/],
    [
      '/change',
      { name: 'main', merge_access_level: '7' },
      /<details open>[\s\S]*does not have a valid value/,
    ],
    // Said above the form: it has no control for it.
    ['/change', { name: 'main', base: 'x'.repeat(256) }, /role="alert">is too long/],
  ];
  for (const [below, form, expected] of cases) {
    const { status, text } = await visitor.post(branches + below, form);
    assert.equal(status, 422, JSON.stringify(form));
    assert.match(text, expected);
  }
  assert.deepEqual(await rules('branches'), before);
});

test('shows the rules of an archived project, without forms', async () => {
  const { project, branches } = await place();
  await master.visitor.post(branches, { name: 'main' });
  assert.equal((await gantry.api(`POST /projects/${project.id}/archive`)).status, 201);
  const { status, text } = await master.visitor.get(branches);
  assert.deepEqual([status, /<code>main/.test(text), /Unprotect/.test(text)], [200, true, false]);
  assert.equal((await master.visitor.post(`${branches}/delete`, { name: 'main' })).status, 403);
});

test('only maintainers open the page of protected branches and tags', async () => {
  const { project, rules, branches, tags } = await place();
  for (const path of [branches, tags]) {
    assert.equal((await developer.visitor.get(path)).status, 403);
    assert.equal((await developer.visitor.post(path, { name: 'x' })).status, 403);
    assert.equal((await developer.visitor.post(path, { name: 'x', push_access_level: 'x' })).status, 403);
    assert.equal((await developer.visitor.post(`${path}/delete`, { name: 'x' })).status, 403);
    const hidden = await stranger.visitor.get(path);
    const missing = await stranger.visitor.get(path.replace(project.full_path, 'no-such/project'));
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match((await openVisitor(gantry).get(path)).location ?? '', /^\/users\/sign_in/);
  }
  assert.deepEqual([await rules('branches'), await rules('tags')], [[], []]);
});

test('shows many protected branches in pages', async () => {
  const { project, branches } = await place();
  for (const name of ['a', 'b', 'c'])
    await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name } });
  const { text } = await master.visitor.get(`${branches}?per_page=1&page=2`);
  assert.deepEqual(
    [/Page 2 of 3/.test(text), /<code>b</.test(text), /<code>a</.test(text)],
    [true, true, false],
  );
});
