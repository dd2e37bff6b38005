/** The way of a contributor without a role, in a browser: edit a file, fork, propose the change, follow the upstream. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { openRequest, seedBranch, seedCoded, settle } from '../../support/seed_merge_requests.ts';
import { type Web, noticeOn, openWeb, pathOf, skip } from '../web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => await web?.close());

test('edits a file in a new fork, opens a merge request, and updates the fork', { skip }, async () => {
  const { gantry } = web;
  const project = await seedCoded(gantry, { visibility: 'public' });
  const name = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, name);
    await page.waitForURL('**/');
    await page.goto(`/${project.full_path}/merge_requests/new`);
    await page.getByRole('heading', { name: 'have no fork of it' }).waitFor();
    await web.assertFine(page);
    await page.goto(`/${project.full_path}/-/blob/main/README.md`);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await web.assertFine(page);
    await page.getByRole('link', { name: 'Fork the project' }).click();
    await page.getByRole('button', { name: 'Fork project' }).click();
    await page.getByLabel('Content').fill('Read me twice\n');
    await settle(gantry);
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Commit changes' }).click();
    await page.getByRole('button', { name: 'Create merge request' }).click();
    await page.getByRole('heading', { name: 'Update README.md' }).waitFor();
    assert.match(pathOf(page), new RegExp(`^/${project.full_path}/merge_requests/\\d+$`));
    await seedCommit(gantry, project.id, { 'news.txt': 'x\n' }, { branch: 'main', from: 'main' });
    const { body } = await gantry.api(`GET /projects/${project.id}/forks`);
    await page.goto(`/${body[0].path_with_namespace}`);
    await page.getByText('1 commit behind').waitFor();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Update fork' }).click();
    assert.match(await noticeOn(page), /The fork was updated/);
    await page.getByRole('link', { name: 'Contribute' }).click();
    await page.getByLabel('Source branch').waitFor();
    await web.assertFine(page);
  });
});

test('names conflicting files on a narrow screen', { skip }, async () => {
  const { gantry } = web;
  const project = await seedCoded(gantry, { visibility: 'public' });
  const file = `${'a-long-folder/'.repeat(8)}file.txt`;
  await seedBranch(gantry, project, 'topic', { files: { [file]: 'theirs\n' } });
  const { iid } = await openRequest(gantry, project, 'topic');
  await seedCommit(gantry, project.id, { [file]: 'ours\n' }, { branch: 'main', from: 'main' });
  await settle(gantry);
  const narrow = { viewport: { width: 375, height: 800 }, colorScheme: 'dark' as const };
  await web.withPage(async (page) => {
    await page.goto(`/${project.full_path}/merge_requests/${iid}`);
    await page.getByText(file).waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(width <= 375, `${width} pixels`);
    await web.assertFine(page);
  }, narrow);
});
