/** Tests, in a browser, what helps with a new issue: similar ones, and templates that keep what was typed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedIssue, seedProject } from '../../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from '../web.ts';

let web: Web;
let admin: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  admin = await web.makeUser({ admin: true });
});
after(async () => {
  if (skip === false) await web.close();
});

test('shows similar issues, and inserts a template that can be taken back', { skip }, async () => {
  const project = await seedProject(web.gantry, { visibility: 'public' });
  await seedIssue(web.gantry, { project: project.id, title: 'Login button breaks' });
  await seedCommit(web.gantry, project.id, { '.gitlab/issue_templates/Bug.md': 'Steps' });
  await web.withPage(async (page) => {
    await web.signIn(page, admin);
    await page.waitForURL('**/');
    await page.goto(`/${project.full_path}/issues/new`);
    await page.getByLabel('Title').fill('The login button');
    await page.getByRole('link', { name: /#1 Login button breaks/ }).waitFor();
    await web.assertFine(page);
    await page.getByLabel('Title').fill('Something else');
    await page.getByRole('link', { name: /#1 Login button breaks/ }).waitFor({ state: 'detached' });
    const description = page.getByLabel('Description', { exact: true });
    await description.fill('Mine');
    await page.getByLabel('Template').selectOption('Bug');
    await page.getByRole('button', { name: 'Use template' }).click();
    await page.getByText('Template inserted.').waitFor();
    assert.equal(await description.inputValue(), 'Mine\n\nSteps');
    assert.equal(await page.getByLabel('Title').inputValue(), 'Something else');
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    assert.equal(await description.inputValue(), 'Mine');
    assert.equal(await page.getByText('Template inserted.').count(), 0);
    await page.getByLabel('Title').press('Enter');
    await page.waitForURL('**/issues/2');
    assert.equal(pathOf(page), `/${project.full_path}/issues/2`);
  });
});
