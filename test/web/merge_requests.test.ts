/** What people do with merge requests in a browser: open, review, merge; on a phone, without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { assertSeeEachOther } from './talk_of_two.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let project: Coded;
let list: string;
let author: string;
let reviewer: string;

const sizes = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 375, height: 700 } },
] as const;

const makeMember = async (name: string): Promise<string> => {
  const username = await web.makeUser({ name });
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, { user: body[0].id, project: project.id, access_level: 40 });
  return username;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  project = await seedCoded(gantry, { visibility: 'public' });
  list = `/${project.full_path}/merge_requests`;
  [author, reviewer] = [await makeMember('An Author'), await makeMember('A Reviewer')];
  await seedBranch(gantry, project, 'shown', { files: { 'shown.txt': 'a\nb\n' } });
  const description = 'Some `code`\n\n- [ ] first\n- [x] second';
  await openRequest(gantry, project, 'shown', { title: 'Draft: Shown', description, labels: 'bug' });
  await gantry.api(`POST /projects/${project.id}/merge_requests/1/discussions`, { json: { body: 'Why?' } });
  await seedBranch(gantry, project, 'keep-loads', { message: 'Keep loads' });
  await seedBranch(gantry, project, 'plain', { message: 'Be plain' });
  await settle(gantry);
});
after(async () => {
  if (skip === false) await web.close();
});

const assertNarrow = async (page: Page): Promise<void> => {
  const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(excess <= 0, `${pathOf(page)} is ${excess} pixels too wide`);
};

test('pages of merge requests are accessible, in both schemes and on a phone', { skip }, async () => {
  for (const size of sizes) {
    await web.withPage(async (page) => {
      await web.signIn(page, reviewer);
      const fresh = '/new?merge_request[source_branch]=plain';
      for (const path of ['', '/new', fresh, '/1', '/1/edit', '/1/commits', '/1/pipelines']) {
        await page.goto(list + path);
        await web.assertFine(page);
        await assertNarrow(page);
      }
      await page.goto(`${list}/1`);
      for (const summary of await page.locator('.edit > summary, .messages > summary').all())
        await summary.click();
      await page.getByText('Check out').click();
      await web.assertFine(page);
      await assertNarrow(page);
    }, size);
  }
});

test('a branch becomes a merge request, is approved and merged', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, author);
    await page.goto(`${list}/new?merge_request%5Bsource_branch%5D=keep-loads`);
    assert.equal(await page.getByLabel('Title').inputValue(), 'Keep loads');
    const reviewers = page.getByRole('group', { name: 'Reviewers' });
    await reviewers.getByLabel(`A Reviewer @${reviewer}`).check();
    await page.getByLabel('Delete the source branch when it is merged').check();
    await page.getByRole('button', { name: 'Create merge request' }).click();
    await page.waitForURL(`**${list}/2`);
    await page.getByRole('heading', { name: 'Ready to merge' }).waitFor();
  });
  await web.withPage(async (page) => {
    await web.signIn(page, reviewer);
    await page.goto(list);
    await page.getByRole('link', { name: 'Needs my review' }).click();
    await page.getByRole('link', { name: 'Keep loads', exact: true }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved by A Reviewer').waitFor();
    await page.getByRole('textbox', { name: 'Add a comment' }).fill('Which loads?');
    await page.getByRole('button', { name: 'Start thread' }).click();
    await page.getByText('1 thread is open').waitFor();
    await page.getByRole('button', { name: 'Resolve thread' }).click();
    await page.getByText('No open threads').waitFor();
    await page.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByRole('heading', { name: 'Merged by A Reviewer' }).waitFor();
    await web.assertFine(page);
  });
});

test('a page that is open shows that the rebase is done', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, author);
    await page.goto(`${list}/1`);
    const { id } = project;
    await web.gantry.service.platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('merge_requests')
          .set({ rebase_in_progress: 1 })
          .where('project_id', '=', id)
          .execute(),
    );
    await page.reload();
    await page.getByText('Rebasing onto').waitFor();
    await web.gantry.service.platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('merge_requests')
          .set({ rebase_in_progress: 0 })
          .where('project_id', '=', id)
          .execute(),
    );
    await page.getByText('No conflicts with').waitFor();
  });
});

test("two people see each other's comments, and keep what they type", { skip }, async () => {
  await assertSeeEachOther(web, `${list}/1`, [author, reviewer]);
});

test('opens, edits, comments on and merges without scripts', { skip }, async () => {
  await web.withPage(
    async (page) => {
      await web.signIn(page, author);
      await page.goto(`${list}/new`);
      await page.getByLabel('Source branch').fill('plain');
      await page.getByRole('button', { name: 'Compare branches' }).click();
      await page.getByRole('heading', { name: '1 commit' }).waitFor();
      await page.getByLabel('Title').fill('Draft: Be plain');
      await page.getByRole('button', { name: 'Create merge request' }).click();
      await page.getByRole('button', { name: 'Mark as ready' }).last().click();
      await page.getByRole('heading', { name: 'Ready to merge' }).waitFor();
      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      await page.getByLabel('Title').fill('Plainer');
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('textbox', { name: 'Add a comment' }).fill('Seen');
      await page.getByRole('button', { name: 'Comment', exact: true }).click();
      await page.getByText('Seen').waitFor();
      await page.getByText('Edit message').click();
      await page.getByLabel('Message of the merge commit').fill('My message');
      await page.getByRole('button', { name: 'Merge', exact: true }).click();
      await page.getByRole('heading', { name: 'Merged by An Author' }).waitFor();
    },
    { javaScriptEnabled: false },
  );
});
