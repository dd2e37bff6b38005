/** Tests the page of a project's deploy keys. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freshKey } from '../../../../../test/support/repositories/ssh_keys.ts';
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
  const keys = async () => (await gantry.api(`GET /projects/${project.id}/deploy_keys`)).body;
  return { project, keys, path: `/${project.full_path}/-/deploy_keys` };
};

test('adds, changes and removes a key', async () => {
  const { keys, path } = await place();
  const { visitor } = master;
  assert.match((await visitor.get(path)).text, /No deploy keys/);
  const form = { title: 'Robot <b>', key: freshKey('robot'), can_push: '0', expires_at: '2099-01-02' };
  const added = await visitor.post(path, form);
  assert.deepEqual([added.status, added.location], [303, path]);
  const [key] = await keys();
  assert.deepEqual([key.title, key.can_push], ['Robot <b>', false]);
  assert.match(
    (await visitor.get(path)).text,
    /Robot &lt;b&gt;[\s\S]*expires [\s\S]*2099-01-02[\s\S]*Read only/,
  );
  await visitor.post(`${path}/${key.id}`, { title: 'Other', can_push: '1' });
  const [changed] = await keys();
  assert.deepEqual([changed.title, changed.can_push], ['Other', true]);
  assert.match((await visitor.get(path)).text, /Read and write/);
  assert.equal((await visitor.post(`${path}/${key.id}/delete`)).location, path);
  assert.deepEqual(await keys(), []);
  assert.equal((await visitor.post(`${path}/${key.id}/delete`)).status, 404);
});

test('enables a key of another project that the visitor administers', async () => {
  const [one, two, hidden] = [await place(), await place(), await seedProject(gantry)];
  const { visitor } = master;
  await visitor.post(one.path, { title: 'Shared', key: freshKey('shared') });
  const other = { title: 'Not theirs', key: freshKey('hidden') };
  const { body } = await gantry.api(`POST /projects/${hidden.id}/deploy_keys`, { json: other });
  const [{ id }] = await one.keys();
  const { text } = await visitor.get(two.path);
  assert.deepEqual([text.includes(`${two.path}/${id}/enable`), text.includes('Not theirs')], [true, false]);
  assert.equal((await visitor.post(`${two.path}/${id}/enable`)).location, two.path);
  assert.deepEqual([(await two.keys())[0].id, (await two.keys())[0].can_push], [id, false]);
  assert.equal((await visitor.get(two.path)).text.includes(`${two.path}/${id}/enable`), false);
  assert.equal((await visitor.post(`${two.path}/${body.id}/enable`)).status, 404);
});

test('shows problems, keeps the input and changes nothing', async () => {
  const { keys, path } = await place();
  const { visitor } = master;
  const key = freshKey('mine');
  await visitor.post(path, { title: 'Mine', key });
  const before = await keys();
  const cases: [string, Record<string, string>, RegExp][] = [
    ['', { key: 'nonsense', title: 'kept' }, /Key is invalid: paste the whole line[\s\S]*value="kept"/],
    ['', { key: '' }, /id="key_error"/],
    ['', { key: freshKey('old'), expires_at: '2001-01-01' }, /must be in the future/],
    ['', { key: freshKey('never'), expires_at: 'x' }, /Expires on \(optional\) is invalid/],
    [`/${before[0].id}`, { title: ' ' }, /<details open>[\s\S]*Title can&#39;t be blank/],
  ];
  for (const [below, form, expected] of cases) {
    const { status, text } = await visitor.post(path + below, form);
    assert.equal(status, 422, JSON.stringify(form));
    assert.match(text, expected);
  }
  assert.deepEqual(await keys(), before);
});

test('only maintainers open the page of deploy keys', async () => {
  const { project, keys, path } = await place();
  assert.equal((await developer.visitor.get(path)).status, 403);
  assert.equal((await developer.visitor.post(path, { key: freshKey('x') })).status, 403);
  assert.equal((await developer.visitor.post(path, { key: 'x', can_push: 'x' })).status, 403);
  assert.equal((await developer.visitor.post(`${path}/1/enable`)).status, 403);
  assert.deepEqual(await keys(), []);
  const hidden = await stranger.visitor.get(path);
  const missing = await stranger.visitor.get(path.replace(project.full_path, 'no-such/project'));
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(path)).location ?? '', /^\/users\/sign_in/);
});
