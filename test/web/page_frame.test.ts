/** Behaviour of pages in a browser, other than content: times relative to now, headers that stay, and targets large enough. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedIssue, seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let project: Coded;
let login: string;
let iid: number;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  project = await seedCoded(gantry, { visibility: 'private' });
  login = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${login}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  const lines = Array.from({ length: 200 }, (_line, at) => `line ${at}\n`).join('');
  await seedBranch(gantry, project, 'long', { files: { 'long.txt': lines, 'next.txt': 'x\n' } });
  ({ iid } = await openRequest(gantry, project, 'long', { labels: 'bug', title: 'Long' }));
  await settle(gantry);
});
after(async () => await web?.close());

const withUser = async (work: (page: Page) => Promise<void>, options = {}): Promise<void> =>
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await work(page);
  }, options);

test('times are told relative to now, and keep their exact time', { skip }, async () => {
  const { id } = await seedIssue(web.gantry, { project: project.id, title: 'Old' });
  const created_at = Date.now() - 3 * 3_600_000 - 60_000;
  await web.gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('issues').set({ created_at }).where('id', '=', id).execute();
  });
  await withUser(async (page) => {
    await page.goto(`/${project.full_path}/issues`);
    const time = page.locator('time[data-relative]').first();
    await page.getByText('3 hours ago').waitFor();
    assert.equal(await time.getAttribute('datetime'), new Date(created_at).toISOString());
    assert.match((await time.getAttribute('title')) ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  });
});

test('the header of a file stays above its lines, below the top bar', { skip }, async () => {
  await withUser(async (page) => {
    await page.goto(`/${project.full_path}/merge_requests/${iid}/diffs`);
    const file = page.locator('.diff-file', { hasText: 'long.txt' }).first();
    await file.locator('text=line 150').first().scrollIntoViewIfNeeded();
    const header = await file.locator('> header').boundingBox();
    const bar = await page.locator('.topbar').boundingBox();
    const start = await file.boundingBox();
    assert.ok(header !== null && bar !== null && start !== null);
    assert.ok(start.y < -100, `the file begins at ${start.y}`);
    assert.ok(header.y >= bar.y + bar.height - 2 && header.y < 120, `the header is at ${header.y}`);
  });
});

/** In the page: buttons and fields that are lower or narrower than 24 pixels; links in texts are exempt. */
const smallTargets = `[...document.querySelectorAll('button, summary, select, input:not([type=hidden]), .button, .tabs a, .icon-link')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((one) => getComputedStyle(one).clipPath !== 'inset(50%)')
  .filter((one) => one.closest('.visually-hidden, .visually-hidden-until-focus, .skip, label') === null)
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, { width, height }]) => width > 1 && height > 1 && (width < 24 || height < 24)
    && !(one.matches('[type=checkbox], [type=radio]') && height >= 13))
  .map(([one, { width, height }]) => one.outerHTML.slice(0, 120) + ' ' + width + 'x' + height)`;

for (const [name, viewport] of Object.entries({
  wide: { width: 1280, height: 860 },
  'on a phone': { width: 375, height: 812 },
})) {
  test(`controls are at least 24 pixels wide and high, ${name}`, { skip }, async () => {
    await withUser(
      async (page) => {
        const root = `/${project.full_path}`;
        const paths = [
          '',
          '/issues',
          `/merge_requests/${iid}`,
          `/merge_requests/${iid}/diffs`,
          '/-/pipelines',
        ];
        for (const path of ['/', '/search?search=line', ...paths.map((below) => root + below)]) {
          await page.goto(path);
          assert.deepEqual(await page.evaluate(smallTargets), [], path);
        }
      },
      { viewport },
    );
  });
}
