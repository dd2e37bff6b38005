/** Help: every topic opens without signing in, and every link within it leads somewhere. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { rewriteLinks } from './read_topic.ts';
import { topicGroups } from './topics.ts';

const root = join(import.meta.dirname, '../../../../..');
const topics = topicGroups.flatMap((group) => group.topics);

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const pages = new Map<string, { status: number; text: string }>();
const open = async (path: string): Promise<{ status: number; text: string }> => {
  const known = pages.get(path);
  if (known !== undefined) return known;
  const response = await fetch(`${gantry.url}${path}`, { redirect: 'manual' });
  const page = { status: response.status, text: await response.text() };
  pages.set(path, page);
  return page;
};

const decode = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'");

/** Content of the page, without the frame and the navigation. */
const mainOf = (text: string): string => /<main[^]*<\/main>/.exec(text)?.[0] ?? '';

const linksIn = (text: string): string[] =>
  [...mainOf(text).matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, target = '']) => decode(target));

/** Says what is wrong with a link; null: nothing. */
const faultOf = async (from: string, link: string): Promise<string | null> => {
  if (/^(?:https?|mailto):/.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const { status, text } = await open(path === '' ? from : path);
  if (status !== 200) return `${from}: ${link} answers ${status}`;
  const isThere = anchor === undefined || text.includes(`id="${decodeURIComponent(anchor)}"`);
  return isThere ? null : `${from}: ${link} has no such place`;
};

test('lists every topic, and the page of each has its text and all others beside it', async () => {
  const { status, text } = await open('/help');
  assert.equal(status, 200);
  for (const { name, title, about } of topics) {
    assert.ok(linksIn(text).includes(`/help/${name}`), name);
    const page = await open(`/help/${name}`);
    assert.equal(page.status, 200, name);
    assert.match(page.text, new RegExp(`<h1>${title.replace(/[.*+?^$()[\]\\]/g, '\\$&')}</h1>`), name);
    assert.ok(linksIn(page.text).length >= topics.length, name);
    assert.doesNotMatch(page.text, /too busy|too long to|takes too long/, name);
    assert.ok(about.length > 10);
  }
});

test('every link leads to a page and a place that exist', async () => {
  const faults: string[] = [];
  for (const path of ['/help', ...topics.map(({ name }) => `/help/${name}`)]) {
    for (const link of new Set(linksIn((await open(path)).text))) {
      const fault = await faultOf(path, link);
      if (fault !== null) faults.push(fault);
    }
  }
  assert.deepEqual(faults, []);
});

test('has every page for operators and users of the folder of documents', () => {
  const forContributors = ['debugging.md', 'glossary.md', 'surprises.md'];
  const files = globSync('docs/*.md', { cwd: root }).map((file) => basename(file));
  const shown = new Set(topics.map(({ file }) => basename(file)));
  assert.deepEqual(
    files.filter((file) => !shown.has(file) && !forContributors.includes(file)),
    [],
  );
});

test('needs nothing from other sites, and is linked from every page', async () => {
  const { text } = await open('/help/operations');
  assert.doesNotMatch(text, /<(?:img|script|link|iframe)[^>]+(?:src|href)="https?:/);
  assert.match((await open('/users/sign_in')).text, /<footer[^]*href="\/help"[^]*<\/footer>/);
});

test('missing topics are missing, in any shape', async () => {
  for (const path of ['/help/nothing', '/help/..%2fpackage', '/help/SECURITY', '/help/installation/more'])
    assert.equal((await open(path)).status, 404, path);
  assert.equal((await open('/help/installation.md')).status, 200);
});

test('links to files outside of help become text', () => {
  const rewrite = (text: string): string => rewriteLinks(text, 'docs/a.md');
  assert.equal(rewrite('[a](operations.md#the-log)'), '[a](/help/operations#user-content-the-log)');
  assert.equal(
    rewrite('[a](../SECURITY.md) and [b](#here)'),
    '[a](/help/promises) and [b](#user-content-here)',
  );
  assert.equal(rewrite('[a](decisions/0001.md), [b](../src/x.ts)'), 'a, b');
  assert.equal(
    rewrite('[a](https://example.com) [b](/-/docs/api)'),
    '[a](https://example.com) [b](/-/docs/api)',
  );
});

test('the palette finds topics and their sections', async () => {
  const find = async (words: string): Promise<string[]> =>
    linksIn((await open(`/-/jump?q=${words}`)).text).filter((link) => link.startsWith('/help/'));
  assert.deepEqual(await find('tutorial'), ['/help/tutorial']);
  const [place = ''] = await find('what+belongs+together');
  assert.equal(place, '/help/operations');
  const sections = await find('metrics');
  assert.ok(sections.includes('/help/operations#user-content-metrics'), sections.join());
  for (const link of [...sections, ...(await find('gitlab'))])
    assert.equal(await faultOf('/-/jump', link), null);
  assert.deepEqual(await find('me'), []);
});
