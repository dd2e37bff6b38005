/** A review by keyboard: files, comments, threads, viewed marks and its end; also on a phone and without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded } from '../support/seed_merge_requests.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let project: Coded;
let username: string;

const numbered = (count: number, word: string): string =>
  Array.from({ length: count }, (_line, at) => `const ${word}${at + 1} = ${at + 1};\n`).join('');

/** Opens a merge request of three files, with an open thread on the second. */
const open = async (branch: string): Promise<string> => {
  const { gantry } = web;
  const files = {
    'src/a.ts': numbered(40, 'a').replace('a20 = 20', 'a20 = 21'),
    'src/b.ts': numbered(12, 'fresh'),
    'src/c.ts': null,
  };
  await seedBranch(gantry, project, branch, { files });
  const { iid } = await openRequest(gantry, project, branch);
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const [version] = (await gantry.api(`GET ${api}/versions`)).body;
  const position = {
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
    position_type: 'text',
    new_path: 'src/b.ts',
    new_line: 3,
  };
  const made = await gantry.api(`POST ${api}/discussions`, {
    json: { body: 'Is `fresh` **good**?', position },
  });
  assert.equal(made.status, 201, made.text);
  return `/${project.full_path}/merge_requests/${iid}/diffs`;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  project = await seedCoded(gantry, { visibility: 'public' });
  username = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  await seedCommit(gantry, project.id, { 'src/a.ts': numbered(40, 'a'), 'src/c.ts': numbered(3, 'c') });
});
after(async () => {
  if (skip === false) await web.close();
});

const focused = async (page: Page): Promise<string> =>
  await page.evaluate<string>(
    `document.activeElement.closest('.thread-card, .diff-file')?.getAttribute('aria-label') ?? ''`,
  );

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

test('reviews by keyboard alone', { skip }, async () => {
  const path = await open('by-keyboard');
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(path);
    await press(page, ']');
    assert.equal(await focused(page), 'src/a.ts');
    await press(page, 'j', '[', ']');
    assert.equal(await focused(page), 'src/b.ts');
    await press(page, 'n');
    assert.match(await focused(page), /^Open thread of/);
    await press(page, 'p');
    assert.match(await focused(page), /^Open thread of/);
    // A comment on a line: its number is a link.
    await page.getByRole('link', { name: 'Comment on line 20, added' }).focus();
    await press(page, 'Enter');
    await page.getByRole('textbox', { name: 'Comment on line 20' }).waitFor();
    await page.keyboard.type('Why 21?');
    await press(page, 'Control+Enter');
    await page.getByText('Pending', { exact: true }).waitFor();
    await page.getByLabel('1 pending').waitFor();
    // A reply that resolves the thread.
    await page.locator('.thread-card[data-unresolved] > .thread-actions summary').focus();
    await press(page, 'Enter', 'Tab');
    await page.keyboard.type('It is.');
    await press(page, 'Tab', 'Space');
    await web.assertFine(page);
    await press(page, 'Tab', 'Enter');
    await page.getByText('Resolved by A User').waitFor();
    // Viewed, and on to the next file.
    await press(page, '[', '[', 'v');
    await page.getByText('1 of 3 files viewed').waitFor();
    await page.getByRole('checkbox', { name: 'Fold src/a.ts', checked: true }).waitFor();
    assert.equal(await focused(page), 'src/b.ts');
    await page.locator('.review-menu > summary').focus();
    await press(page, 'Enter');
    await page.getByRole('textbox', { name: 'Summary' }).focus();
    await page.keyboard.type('Good work');
    await web.assertFine(page);
    await page.getByRole('radio', { name: 'Approve' }).focus();
    await press(page, 'Space');
    await page.getByRole('button', { name: 'Submit review' }).focus();
    await press(page, 'Enter');
    await page.waitForURL(`**${path.replace('/diffs', '')}`);
    await page.getByText('Good work').waitFor();
  });
});

test('loads the whole file and both views in place, in dark and on a phone', { skip }, async () => {
  const path = await open('in-place');
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      await page.goto(path);
      await page.getByRole('link', { name: 'Whole file src/a.ts' }).click();
      await page.locator('#files').getByText('a1 =').first().waitFor();
      assert.equal(pathOf(page), path);
      await web.assertFine(page);
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(excess <= 0, `${excess} pixels too wide`);
      await page.goto(`${path}?view=split`);
      await web.assertFine(page);
    },
    { colorScheme: 'dark', viewport: { width: 375, height: 700 } },
  );
});

test('comments and marks files without scripts', { skip }, async () => {
  const path = await open('without-scripts');
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(path);
      await page.getByRole('link', { name: 'Comment on line 21, unchanged' }).click();
      await page.getByRole('textbox', { name: 'Comment on line 21' }).fill('Unchanged, but odd');
      await page.getByLabel('First line').fill('20');
      await page.getByRole('button', { name: 'Comment now' }).click();
      await page.getByText('lines 20 to 21').waitFor();
      await page.getByRole('button', { name: 'Viewed src/c.ts' }).click();
      await page.getByText('1 of 3 files viewed').waitFor();
    },
    { javaScriptEnabled: false },
  );
});
