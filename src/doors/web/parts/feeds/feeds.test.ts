/** Tests the Atom feeds of releases, tags and commits, and what previews of links show. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { type SeededProject, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, rootToken, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { shortenMarkdown } from '../shorten_text.ts';

let gantry: TestService;
let open: SeededProject;
let closed: SeededProject;
let member: Visitor;
let anyone: Visitor;

const fill = async (visibility: 'public' | 'private'): Promise<SeededProject> => {
  const project = await seedProject(gantry, { visibility });
  await gantry.api(`PUT /projects/${project.id}`, { json: { description: 'About **bridges**' } });
  await seedCommit(gantry, project.id, { a: '1' }, { message: 'First & <best>\n\nBecause\u0001 it is' });
  await seedCommit(gantry, project.id, { 'docs/b': '2' }, { message: 'Second' });
  const json = { tag_name: 'v/1', ref: 'main', name: 'One & only', description: 'See [a](docs/b) <script>' };
  assert.equal((await gantry.api(`POST /projects/${project.id}/releases`, { json })).status, 201);
  return project;
};

before(async () => {
  gantry = await startTestService();
  [open, closed] = [await fill('public'), await fill('private')];
  member = (await seedVisitor(gantry, { project: closed.id, access_level: 20 })).visitor;
  anyone = openVisitor(gantry);
});
after(async () => await gantry.close());

const feeds = [
  '/-/releases.atom',
  '/-/tags?format=atom',
  '/-/commits/main?format=atom',
  '/-/commits/main.atom',
];

const titlesIn = (feed: string): string[] =>
  [...feed.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title ?? '');

test('anonymous visitors read the feeds of public projects', async () => {
  const root = `/${open.full_path}`;
  const [releases, tags, commits, short] = await Promise.all(
    feeds.map(async (path) => await anyone.get(root + path)),
  );
  for (const one of [releases, tags, commits, short]) {
    assert.equal(one?.status, 200);
    assert.equal(one?.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
    assert.match(
      one?.text ?? '',
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom">/,
    );
  }
  const { full_path } = open;
  assert.deepEqual(titlesIn(releases?.text ?? ''), [`${full_path} releases`, 'One &amp; only']);
  assert.match(releases?.text ?? '', /<id>http:\/\/[^<]+\/-\/releases\/v%2F1<\/id>/);
  // The notes are escaped HTML without scripts, with links from anywhere.
  assert.match(releases?.text ?? '', /href=&quot;http:\/\/[^&]+\/-\/blob\/main\/docs\/b&quot;/);
  assert.doesNotMatch(releases?.text ?? '', /&lt;script/);
  assert.deepEqual(titlesIn(tags?.text ?? ''), [`${full_path} tags`, 'v/1']);
  assert.deepEqual(titlesIn(commits?.text ?? ''), [
    `${full_path}:main commits`,
    'Second',
    'First &amp; &lt;best&gt;',
  ]);
  assert.match(commits?.text ?? '', /<summary type="text">Because it is<\/summary>/);
  assert.equal(short?.text, commits?.text);
});

test('a feed of a folder has its commits only, and pages name their feeds', async () => {
  const root = `/${open.full_path}`;
  const { text } = await anyone.get(`${root}/-/commits/main/docs?format=atom`);
  assert.deepEqual(titlesIn(text).slice(1), ['Second']);
  assert.equal((await anyone.get(`${root}/-/commits/none.atom`, { accept: '*/*' })).status, 404);
  for (const [page, feed] of [
    ['/-/releases', `${root}/-/releases.atom`],
    ['/-/releases/v%2F1', `${root}/-/releases.atom`],
    ['/-/tags', `${root}/-/tags?format=atom`],
    ['/-/commits/main', `${root}/-/commits/main?format=atom`],
    ['', `${root}/-/commits/main?format=atom`],
  ] as const) {
    const head = (await anyone.get(root + page)).text.split('</head>')[0] ?? '';
    assert.ok(head.includes(`type="application/atom+xml"`) && head.includes(`href="${feed}"`), page);
  }
});

test('feeds of private projects are for their members', async () => {
  const missing = closed.full_path.replace(/[^/]+$/, 'missing');
  for (const path of feeds) {
    assert.equal((await member.get(`/${closed.full_path}${path}`)).status, 200, path);
    const [hidden, none] = await Promise.all(
      [closed.full_path, missing].map(
        async (project) => await anyone.get(`/${project}${path}`, { accept: 'application/atom+xml' }),
      ),
    );
    assert.deepEqual([hidden?.status, hidden?.text], [404, none?.text], path);
  }
});

/** The address of the visible link to the feed of a page. */
const feedLinkIn = (text: string): string =>
  (/<a class="button icon-button" href="([^"]+)" title="Atom feed"/.exec(text)?.[1] ?? '').replaceAll(
    '&amp;',
    '&',
  );

test('a feed reader without a session opens the feeds of a private project by their token', async () => {
  const root = `/${closed.full_path}`;
  const headers = { accept: 'application/atom+xml' };
  const linked = await Promise.all(
    ['/-/releases', '/-/tags', '/-/commits/main', '/-/commits/main/docs'].map(async (path) => {
      const address = feedLinkIn((await member.get(root + path)).text);
      const feed = await anyone.get(address, headers);
      assert.deepEqual([feed.status, titlesIn(feed.text).length > 1], [200, true], address);
      assert.doesNotMatch(feed.text, /feed_token/);
      return address;
    }),
  );
  const [releases = '', tags = '', commits = ''] = linked;
  const tokenOf = (address: string): string =>
    new URL(address, gantry.url).searchParams.get('feed_token') ?? '';
  for (const path of [
    `/-/tags?feed_token=${tokenOf(tags)}`,
    `/-/tags?feed_token=${tokenOf(tags)}&format=html`,
    `/-/tags?feed_token=${tokenOf(tags)}&format=html&format=atom`,
    `/-/tags?feed_token=${tokenOf(commits)}&format=atom`,
    `/-/commits/main?feed_token=${tokenOf(commits)}`,
    `/-/commits/main?feed_token=${tokenOf(commits)}&format=atomic`,
    `/-/commits/main/docs?feed_token=${tokenOf(commits)}&format=atom`,
    `/-/releases?feed_token=${tokenOf(releases)}`,
    `/-/releases.atom?feed_token=${tokenOf(releases)}x`,
    `?feed_token=${tokenOf(tags)}&format=atom`,
  ]) {
    const { status, text } = await anyone.get(root + path, headers);
    assert.ok(
      [400, 404].includes(status) && !text.includes('Second') && !text.includes('v/1'),
      `${path} ${status}`,
    );
  }
  assert.equal(
    feedLinkIn((await anyone.get(`/${open.full_path}/-/tags`)).text),
    `/${open.full_path}/-/tags?format=atom`,
  );
});

const previewOf = async (visitor: Visitor, path: string): Promise<Record<string, string>> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200, path);
  const found = text.matchAll(/<meta property="og:(\w+)" content="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
};

const issueIn = async (project: SeededProject, json: object): Promise<string> => {
  const { body } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
  return new URL(body.web_url).pathname;
};

test('public pages have previews, hidden ones have none', async () => {
  const root = `/${open.full_path}`;
  const home = await previewOf(anyone, root);
  assert.deepEqual(
    [home['title'], home['description'], home['url'], home['image']],
    [open.full_path, 'About **bridges**', `${gantry.url}${root}`, undefined],
  );
  const release = await previewOf(anyone, `${root}/-/releases/v%2F1`);
  assert.deepEqual(
    [release['title'], release['description']],
    [`One &amp; only · ${open.full_path}`, 'See a'],
  );
  const issue = await issueIn(open, { title: 'Leak', description: '# Water\n\n- drips' });
  assert.equal((await previewOf(anyone, issue))['description'], 'Water drips');
  const { body } = await gantry.api(`GET /projects/${open.id}/repository/commits/main`);
  const commit = await anyone.get(`${root}/commit/${body.id}`);
  assert.match(commit.text, /og:title" content="Second/);
  assert.match(commit.text, /<meta name="robots" content="noindex">/);
  const secret = await issueIn(open, { title: 'Secret', confidential: true });
  const admin = (await seedVisitor(gantry, { project: open.id, access_level: 40 })).visitor;
  assert.deepEqual(await previewOf(admin, secret), {});
  for (const path of ['', '/-/releases', '/-/releases/v%2F1', '/-/blob/main/a'])
    assert.deepEqual(await previewOf(member, `/${closed.full_path}${path}`), {}, path);
});

test('a preview of what is for members in a public project has none', async () => {
  const path = await issueIn(open, { title: 'For members' });
  await gantry.api(`PUT /projects/${open.id}`, { json: { issues_access_level: 'private' } });
  const own = (await seedVisitor(gantry, { project: open.id, access_level: 20 })).visitor;
  assert.deepEqual(await previewOf(own, path), {});
});

test('a preview has the avatar of the project', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const form = new FormData();
  form.set('avatar', new Blob([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')]), 'a.png');
  const answer = await fetch(`${gantry.url}/api/v4/projects/${project.id}`, {
    method: 'PUT',
    headers: { 'private-token': rootToken },
    body: form,
  });
  const { avatar_url } = (await answer.json()) as { avatar_url: string };
  const { image } = await previewOf(anyone, `/${project.full_path}`);
  assert.equal(image, avatar_url);
  assert.equal((await anyone.get(image?.replace(gantry.url, '') ?? '')).status, 200);
});

test('summaries are plain, short and cut at a word', () => {
  assert.equal(shortenMarkdown('## A `b` **c**\n\n> [d](e) ![f](g)\n<!-- h -->i'), 'A b c d f i');
  const long = shortenMarkdown('word '.repeat(100));
  assert.match(long, /^(?:word )*word…$/);
  assert.ok(long.length <= 201);
  assert.equal(shortenMarkdown(''), '');
});
