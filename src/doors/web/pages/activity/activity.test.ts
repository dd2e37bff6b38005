import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let visitor: Visitor;
let user: { id: number; username: string };

before(async () => {
  gantry = await startTestService();
  const seeded = await seedVisitor(gantry, { name: 'Ada <3' });
  [user, visitor] = [seeded, seeded.visitor];
});
after(async () => await gantry.close());

const must = async (line: string, json: object) => {
  const { status, body, text } = await gantry.api(line, { json, headers: { sudo: user.username } });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

/** The entries of the list, as text. */
const entriesIn = (text: string): string[] =>
  [...text.matchAll(/<li><span class="lead">.*?<\/span>\n<span>(.*?)<\/li>/gs)].map(([, entry = '']) =>
    entry
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/ · \d{4}.*| \d{4}-\d\d-\d\d.*/gs, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );

const setUp = async () => {
  const group = await seedGroup(gantry, { owner: user.id });
  const project = await seedProject(gantry, { namespace: group.id });
  const { id, full_path } = project;
  await must(`POST /projects/${id}/issues`, { title: 'Broken & bent' });
  await must(`POST /projects/${id}/issues/1/notes`, { body: 'Look at **this**' });
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
  await must(`POST /projects/${id}/repository/commits`, { branch: 'a/b', commit_message: 'Start', actions });
  await must(`POST /projects/${id}/issues`, { title: 'Secret', confidential: true });
  return { group, id, full_path };
};

test('shows the activity of a project to everybody who sees it', async () => {
  const { full_path, id } = await setUp();
  const page = await visitor.get(`/${full_path}/-/activity`);
  assert.equal(page.status, 200);
  const content = contentIn(page);
  assert.deepEqual(
    entriesIn(content).map((entry) => entry.replace(/ Start$/, '')),
    [
      'Ada &lt;3 opened issue #2 Secret',
      'Ada &lt;3 pushed to branch a/b'.replace('pushed to', 'created'),
      'Ada &lt;3 commented on issue #1 Broken &amp; bent Look at this',
      'Ada &lt;3 opened issue #1 Broken &amp; bent',
    ],
  );
  const note = (await gantry.api(`GET /projects/${id}/issues/1/notes`)).body[0].id;
  for (const href of [
    `/${full_path}/issues/1`,
    `/${full_path}/issues/1#note_${note}`,
    `/${full_path}/-/commits/a/b`,
  ]) {
    assert.ok(content.includes(`href="${href}"`), href);
  }
  const stranger = await openVisitor(gantry).get(`/${full_path}/-/activity?action=pushed`);
  assert.equal(entriesIn(stranger.text).length, 1);
  const all = await openVisitor(gantry).get(`/${full_path}/-/activity?per_page=2`);
  assert.equal(entriesIn(all.text).length, 2);
  assert.equal(all.text.includes('Secret'), false);
  assert.match(all.text, /Page 1 of 2/);
  assert.ok((await visitor.get(`/${full_path}`)).text.includes(`href="/${full_path}/-/activity"`));
});

test('shows the activity of a group with its projects', async () => {
  const { group, full_path } = await setUp();
  const page = await visitor.get(`/groups/${group.full_path}/-/activity`);
  assert.equal(page.status, 200);
  assert.equal(entriesIn(page.text).length, 4);
  assert.ok(page.text.includes(`<a href="/${full_path}">${full_path}</a>`));
  const closed = await seedGroup(gantry, { visibility: 'private' });
  assert.equal((await visitor.get(`/groups/${closed.full_path}/-/activity`)).status, 404);
});

test('shows the activity of a user on the profile', async () => {
  await setUp();
  const led = await visitor.get(`/users/${user.username}/activity`);
  assert.deepEqual([led.status, led.location], [302, `/${user.username}?tab=activity`]);
  const page = await visitor.get(`/${user.username}?tab=activity`);
  assert.equal(page.status, 200);
  assert.ok(entriesIn(page.text).length >= 4);
  assert.match(page.text, /aria-current="page">Activity/);
});

test('says that there is no activity yet', async () => {
  const { full_path } = await seedProject(gantry);
  const page = await visitor.get(`/${full_path}/-/activity?action=merged`);
  assert.match(page.text, /No activity to show/);
});
