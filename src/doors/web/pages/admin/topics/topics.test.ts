/** Tests the administrators' pages of topics. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject, unique } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;
before(async () => {
  gantry = await startTestService();
  admin = (await seedVisitor(gantry, { admin: 1 })).visitor;
});
after(async () => await gantry.close());

const path = '/admin/topics';

const named = async (name: string) => {
  const { body } = await gantry.api(`GET /topics?search=${name}`);
  return body.find((topic: { name: string }) => topic.name === name);
};

test('creates, changes and deletes a topic', async () => {
  const name = unique('topic');
  assert.equal((await admin.get(`${path}/new`)).status, 200);
  const made = await admin.post(path, { name, title: '', description: 'Of <b>bridges</b>' });
  assert.deepEqual([made.status, made.location], [303, path]);
  const topic = await named(name);
  assert.deepEqual([topic.title, topic.description], [name, 'Of <b>bridges</b>']);
  assert.match((await admin.get(`${path}?search=${name}`)).text, new RegExp(`1 topic<[^]*${name}`));
  const twice = await admin.post(path, { name: name.toUpperCase(), title: '', description: '' });
  assert.deepEqual([twice.status, /Name has already been taken/.test(twice.text)], [422, true]);
  const edit = `${path}/${topic.id}`;
  assert.match((await admin.get(`${edit}/edit`)).text, /Of &lt;b&gt;bridges/);
  const refused = await admin.post(edit, { name: 'a,b', title: 'Kept', description: '' });
  assert.deepEqual([refused.status, /value="Kept"/.test(refused.text)], [422, true]);
  const long = { name, title: 'Kept', description: 'x'.repeat(1_025) };
  for (const address of [path, edit]) {
    const { status, text } = await admin.post(address, long);
    assert.deepEqual([status, /Description \(optional\) is too long/.test(text)], [422, true]);
    assert.ok(text.includes('value="Kept"') && text.includes(`>\n${long.description}</textarea>`));
  }
  const picture = { avatar: { name: 'a.png', content: Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64') } };
  const saved = await admin.postFiles(edit, { name, title: 'Bridges', description: '' }, picture);
  assert.equal(saved.status, 303);
  assert.equal((await named(name)).title, 'Bridges');
  assert.match((await named(name)).avatar_url, /avatar/);
  await admin.get(`${edit}/edit`);
  await admin.post(edit, { name, title: 'Bridges', description: '', remove_avatar: '1' });
  assert.equal((await named(name)).avatar_url, null);
  assert.equal((await admin.post(`${edit}/delete`)).status, 303);
  assert.equal(await named(name), undefined);
  assert.equal((await admin.get(`${edit}/edit`)).status, 404);
});

test('merges a topic into another one', async () => {
  const [from, to] = [unique('from'), unique('to')];
  const project = await seedProject(gantry);
  const { status } = await gantry.api(`PUT /projects/${project.id}`, { json: { topics: [from] } });
  assert.equal(status, 200);
  await gantry.api('POST /topics', { json: { name: to } });
  const { id } = await named(from);
  await admin.get(`${path}/${id}/edit`);
  const unknown = await admin.post(`${path}/${id}/merge`, { target: unique('none') });
  assert.deepEqual([unknown.status, /Into the topic was not found/.test(unknown.text)], [422, true]);
  assert.equal((await admin.post(`${path}/${id}/merge`, { target: from })).status, 422);
  assert.equal((await admin.post(`${path}/${id}/merge`, { target: to.toUpperCase() })).location, path);
  assert.deepEqual((await gantry.api(`GET /projects/${project.id}`)).body.topics, [to]);
  assert.equal(await named(from), undefined);
});
