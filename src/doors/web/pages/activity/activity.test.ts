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

test('shows what happened to issues alone', async () => {
  const { full_path } = await setUp();
  const page = contentIn(await visitor.get(`/${full_path}/-/activity?action=issues`));
  assert.match(page, /aria-current="page">Issues</);
  assert.deepEqual(entriesIn(page), [
    'Ada &lt;3 opened issue #2 Secret',
    'Ada &lt;3 opened issue #1 Broken &amp; bent',
  ]);
});

/** Reads the feed of a page without a session, as readers of feeds do. */
const readFeed = async (path: string): Promise<{ text: string; titles: string[] }> => {
  const { text: page } = await visitor.get(path);
  const [, address = ''] = /href="([^"]+activity\.atom\?feed_token=[^"]+)"/.exec(page) ?? [];
  const answer = await fetch(gantry.url + address.replaceAll('&amp;', '&'), { redirect: 'manual' });
  assert.equal(answer.headers.get('content-type'), 'application/atom+xml; charset=utf-8', path);
  const text = await answer.text();
  return {
    text,
    titles: [...text.matchAll(/<title>([^<]*)<\/title>/g)].slice(1).map(([, title = '']) => title),
  };
};

test('activity of projects, groups, users and oneself has feeds for readers without a session', async () => {
  const { full_path, group } = await setUp();
  for (const path of [
    `/${full_path}/-/activity`,
    `/groups/${group.full_path}/-/activity`,
    `/${user.username}?tab=activity`,
    '/dashboard/activity',
  ]) {
    const { text, titles } = await readFeed(path);
    assert.deepEqual(titles.slice(0, 4), [
      `Ada &lt;3 opened issue #2 Secret at ${full_path}`,
      `Ada &lt;3 created branch a/b at ${full_path}`,
      `Ada &lt;3 commented on issue #1 Broken &amp; bent at ${full_path}`,
      `Ada &lt;3 opened issue #1 Broken &amp; bent at ${full_path}`,
    ]);
    assert.match(
      text,
      new RegExp(`<link href="${gantry.url}/${full_path}/issues/1#note_\\d+"[^]+Look at this`),
    );
    const ids = [...text.matchAll(/<id>([^<]+)<\/id>/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length, path);
  }
  const issues = await readFeed(`/${full_path}/-/activity?action=issues`);
  assert.equal(issues.titles.length, 2);
  const open = openVisitor(gantry);
  const atom = { accept: 'application/atom+xml' };
  assert.doesNotMatch((await open.get(`/${full_path}/-/activity.atom`, atom)).text, /Secret/);
  for (const hidden of [`/users/${user.username}/activity.atom`, '/dashboard/activity.atom'])
    assert.notEqual((await open.get(hidden, atom)).status, 200, hidden);
  assert.equal((await visitor.get('/users/nobody-there/activity.atom', atom)).status, 404);
});

test('shows the activity of own and starred projects, and that of the user', async () => {
  const { full_path } = await setUp();
  const elsewhere = await seedProject(gantry);
  await gantry.api(`POST /projects/${elsewhere.id}/issues`, { json: { title: 'Far away' } });
  const read = async (of: string): Promise<string> =>
    contentIn(await visitor.get(`/dashboard/activity?of=${of}`));
  assert.match(await read('projects'), new RegExp(`Broken &amp; bent[^]+${full_path}`));
  assert.doesNotMatch(await read('projects'), /Far away/);
  assert.match(await read('starred'), /No activity to show/);
  await gantry.api(`POST /projects/${elsewhere.id}/star`, { headers: { sudo: user.username } });
  assert.match(await read('starred'), /opened[^]+Far away/);
  assert.match(await read('own'), /Broken &amp; bent/);
  assert.doesNotMatch(await read('own'), /Far away/);
  const filtered = contentIn(await visitor.get('/dashboard/activity?of=starred&action=issues'));
  assert.match(filtered, /Far away/);
  assert.match(filtered, /href="\/dashboard\/activity\?action=pushed&amp;of=starred"/);
  assert.ok((await visitor.get('/')).text.includes('href="/dashboard/activity"'));
});

test('says that there is no activity yet', async () => {
  const { full_path } = await seedProject(gantry);
  const page = await visitor.get(`/${full_path}/-/activity?action=merged`);
  assert.match(page.text, /No activity to show/);
});
