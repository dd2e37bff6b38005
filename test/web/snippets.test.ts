/** Snippets with several files, in a browser with scripts and in one without. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember, seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let login: string;
let project: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${login}`);
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'private' });
  await seedMember(web.gantry, { user: body[0].id, project: id, access_level: 30 });
  project = `/${full_path}`;
});
after(async () => {
  if (skip === false) await web.close();
});

const fillFile = async (page: Page, number: number, [name, content]: [string, string]): Promise<void> => {
  const file = page.getByRole('group', { name: `File ${number}`, exact: true });
  await file.getByLabel('File name').fill(name);
  await file.getByLabel('Content').fill(content);
};

const fileNames = async (page: Page): Promise<string[]> =>
  await page.locator('section.card h2').allTextContents();

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with' : 'without';
  test(`creates and edits a snippet of several files ${way} scripts`, { skip }, async () => {
    await web.withPage(
      async (page) => {
        await web.signIn(page, login);
        await page.goto(`${project}/snippets/new`);
        await page.getByLabel('Title').fill('Two files');
        await fillFile(page, 1, ['a.js', 'const a = 1;']);
        await page.getByText('Add another file').first().click();
        await fillFile(page, 2, ['b.md', '# Second']);
        if (javaScriptEnabled) await web.assertFine(page);
        await page.getByRole('button', { name: 'Create snippet' }).click();
        await page.getByRole('heading', { name: /Two files/ }).waitFor();
        assert.deepEqual(await fileNames(page), ['a.js', 'b.md']);
        if (javaScriptEnabled) await web.assertFine(page);
        await page.getByRole('link', { name: 'Edit' }).click();
        const first = page.getByRole('group', { name: 'File 1', exact: true });
        await first.getByLabel('Remove this file').check();
        await fillFile(page, 2, ['c.md', '# Other']);
        await page.getByText('Add another file').first().click();
        await fillFile(page, 3, ['d.txt', 'Third']);
        await page.getByRole('button', { name: 'Save changes' }).click();
        await page.getByRole('heading', { name: /Two files/ }).waitFor();
        assert.deepEqual(await fileNames(page), ['c.md', 'd.txt']);
        await page.getByRole('link', { name: 'Raw text of d.txt' }).click();
        assert.equal(await page.locator('body').textContent(), 'Third');
      },
      { javaScriptEnabled },
    );
  });
}
