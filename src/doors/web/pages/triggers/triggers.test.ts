/** Tests the page of a project's triggers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let master: Visitor;
let another: Visitor;
let developer: Visitor;
let path: string;

const someone = async (level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/-/triggers`;
  [master, another, developer] = [await someone(40), await someone(40), await someone(30)];
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'one: { script: x }' });
  await settle(gantry);
});
after(async () => await gantry.close());

const all = async () => (await gantry.api(`GET /projects/${project.id}/triggers`)).body;

test('adds a trigger, starts a pipeline by its token, renames and deletes it', async () => {
  await master.get(path);
  assert.equal((await master.post(path, { description: 'site <b>' })).location, path);
  const { text } = await master.get(path);
  const token = /<code class="secret">(glptt-[^<]+)<\/code>/.exec(text)?.[1] ?? '';
  assert.match(text, /site &lt;b&gt;[\s\S]+Never/);
  const start = async () =>
    await gantry.api(`POST /projects/${project.id}/trigger/pipeline`, {
      as: null,
      json: { token, ref: 'main' },
    });
  assert.equal((await start()).status, 201);
  assert.match((await master.get(path)).text, /<td><time datetime=/);
  const [{ id }] = await all();
  await master.post(`${path}/${id}`, { description: 'renamed' });
  assert.equal((await all())[0].description, 'renamed');
  assert.equal((await master.post(`${path}/${id}/delete`)).location, path);
  assert.equal((await start()).status, 404);
});

test('shows the problems of a refused trigger', async () => {
  await master.get(path);
  const { status, text } = await master.post(path, { description: ' ' });
  assert.deepEqual([status, /Description can&#39;t be blank/.test(text)], [422, true]);
  assert.equal((await all()).length, 0);
  const description = 'x'.repeat(256);
  const long = await master.post(path, { description });
  assert.deepEqual([long.status, long.text.includes(`value="${description}"`)], [422, true]);
  await master.post(path, { description: 'kept' });
  const [{ id }] = await all();
  for (const sent of [description, ' ']) {
    const { status, text } = await master.post(`${path}/${id}`, { description: sent });
    assert.equal(status, 422);
    const field = new RegExp(`<details open>[\\s\\S]+id="description_${id}"[^>]+value="${sent}"`);
    assert.match(text, field);
  }
  assert.equal((await all())[0].description, 'kept');
  await master.post(`${path}/${id}/delete`);
});

test("hides the token of another user's trigger, and refuses to rename it", async () => {
  await master.get(path);
  // A token with a hyphen in its visible part.
  const { platform } = gantry.service;
  const { random } = platform;
  platform.random = (bytes) => Buffer.alloc(bytes, 0xfb);
  await master.post(path, { description: 'mine' });
  platform.random = random;
  const [{ id }] = await all();
  const { text } = await another.get(path);
  assert.match(text, /mine[\s\S]+<code>-_v7…<\/code>/);
  assert.doesNotMatch(text, /glptt-|Rename/);
  assert.equal((await another.post(`${path}/${id}`, { description: 'theirs' })).status, 403);
  assert.equal((await developer.get(path)).status, 403);
  assert.equal((await developer.post(`${path}/${id}/delete`)).status, 403);
  assert.equal((await another.post(`${path}/${id}/delete`)).status, 303);
});
