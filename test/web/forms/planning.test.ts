/** The forms of labels, milestones and snippets, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type SeededProject, seedProject } from '../../support/seed.ts';
import { type Web, noticeOn, openWeb, pathOf, skip } from '../web.ts';

let web: Web;
let login: string;
let project: SeededProject;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
  const [{ id }] = (await web.gantry.api(`GET /users?username=${login}`)).body;
  project = await seedProject(web.gantry, { owner: id, visibility: 'private' });
});
after(async () => {
  if (skip === false) await web.close();
});

const list = async (what: string) => (await web.gantry.api(`GET /projects/${project.id}/${what}`)).body;

const labels = async (page: Page): Promise<void> => {
  await page.goto(`/${project.full_path}`);
  await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Issues' }).click();
  await page.getByRole('link', { name: 'Labels', exact: true }).click();
  await page.getByRole('link', { name: 'New label' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('kind::bug');
  await page.getByLabel('Color').fill('#cc0033');
  await page.getByLabel('Priority').fill('3');
  await page.getByRole('button', { name: 'Create label' }).click();
  await page.waitForURL(/\/labels$/);
  const [{ name, color, priority }] = await list('labels');
  assert.deepEqual([name, color, priority], ['kind::bug', '#cc0033', 3]);
  await page.getByRole('link', { name: 'New label' }).click();
  await page.getByLabel('Name', { exact: true }).fill('kind::bug');
  await page.getByRole('button', { name: 'Create label' }).click();
  assert.match((await page.getByRole('alert').textContent()) ?? '', /already exists/);
  await page.goto(`/${project.full_path}/-/labels`);
  await page.getByRole('link', { name: 'Edit kind::bug' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('What is broken');
  await page.getByLabel('Priority').fill('');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.waitForURL(/\/labels$/);
  const [edited] = await list('labels');
  assert.deepEqual([edited.description, edited.priority], ['What is broken', null]);
  await page.getByRole('link', { name: 'Edit kind::bug' }).click();
  await page.getByRole('button', { name: 'Delete label' }).click();
  await page.waitForURL(/\/labels$/);
  assert.deepEqual(await list('labels'), []);
};

const milestones = async (page: Page): Promise<void> => {
  await page.getByRole('link', { name: 'Milestones', exact: true }).click();
  await page.getByRole('link', { name: 'New milestone' }).first().click();
  await page.getByLabel('Title').fill('Opening');
  await page.getByLabel('Start date').fill('2030-05-02');
  await page.getByLabel('Due date').fill('2030-05-01');
  await page.getByRole('button', { name: 'Create milestone' }).click();
  await page.locator('.error').first().waitFor();
  assert.equal(await page.getByLabel('Title').inputValue(), 'Opening');
  await page.getByLabel('Due date').fill('2030-06-01');
  await page.getByRole('button', { name: 'Create milestone' }).click();
  await page.waitForURL(/\/milestones\/\d+$/);
  const [{ title, start_date, due_date }] = await list('milestones');
  assert.deepEqual([title, start_date, due_date], ['Opening', '2030-05-02', '2030-06-01']);
  await page.getByRole('button', { name: 'Close milestone' }).click();
  assert.equal((await list('milestones?state=closed')).length, 1);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('The *first* train');
  await page.getByLabel('Due date').fill('');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.waitForURL(/\/milestones\/\d+$/);
  const [edited] = await list('milestones');
  assert.deepEqual(
    [edited.description, edited.due_date, edited.state],
    ['The *first* train', null, 'closed'],
  );
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Delete milestone' }).click();
  await page.waitForURL(/\/milestones$/);
  assert.deepEqual(await list('milestones'), []);
};

const snippets = async (page: Page): Promise<void> => {
  await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Snippets' }).click();
  await page.getByRole('link', { name: 'New snippet' }).first().click();
  await page.getByLabel('Title').fill('Loads');
  await page.getByLabel('File name').first().fill('loads.ts');
  await page.getByRole('button', { name: 'Create snippet' }).click();
  await page.locator('[aria-invalid=true]').first().waitFor();
  await page.getByLabel('Content').first().fill('export const load = 12;');
  await page.getByRole('button', { name: 'Create snippet' }).click();
  await page.waitForURL(/\/snippets\/\d+$/);
  const [{ id, title, visibility, files }] = await list('snippets');
  assert.deepEqual([title, visibility, files[0].path], ['Loads', 'private', 'loads.ts']);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Title').fill('Loads of a span');
  await page.getByRole('radio', { name: 'Internal' }).check();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.waitForURL(/\/snippets\/\d+$/);
  const [edited] = await list('snippets');
  assert.deepEqual([edited.title, edited.visibility], ['Loads of a span', 'internal']);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Delete snippet' }).click();
  assert.equal((await web.gantry.api(`GET /projects/${project.id}/snippets/${id}`)).status, 200);
  await page.getByLabel(/permanently$/).check();
  await page.getByRole('button', { name: 'Delete snippet' }).click();
  assert.equal(await noticeOn(page), `Snippet $${id} was deleted.`);
  assert.doesNotMatch(pathOf(page), /\d$/);
  assert.deepEqual(await list('snippets'), []);
};

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with' : 'without';
  test(
    `labels, milestones and snippets are created, edited and deleted ${way} scripts`,
    { skip },
    async () => {
      await web.withPage(
        async (page) => {
          await web.signIn(page, login);
          await page.waitForURL('/');
          await labels(page);
          await milestones(page);
          await snippets(page);
        },
        { javaScriptEnabled },
      );
    },
  );
}
