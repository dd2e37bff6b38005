/** What the script adds to pages: copying, filtering, showing passwords, previews, and jumps by the palette. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember, seedProject, unique } from '../support/seed.ts';
import { type Web, openWeb, password, skip } from './web.ts';

let web: Web;
let root: string;
let name: string;
let login: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  name = unique('winch');
  const { id, full_path } = await seedProject(gantry, { path: name, visibility: 'private' });
  await seedCommit(gantry, id, { 'src/cable.js': 'const a = 1;\n', 'docs/drum.md': 'A drum\n' });
  await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Rope slips' } });
  login = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${login}`);
  const other = await seedProject(gantry, {});
  for (const project of [id, other.id])
    await seedMember(gantry, { user: body[0].id, project, access_level: 40 });
  root = `/${full_path}`;
});
after(async () => {
  if (skip === false) await web.close();
});

const clipboard = async (page: Page): Promise<string> =>
  await page.evaluate<string>('navigator.clipboard.readText()');

test('copies references, addresses and contents', { skip }, async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      await page.goto(`${root}/issues/1`);
      await page.getByRole('button', { name: 'Copy the reference' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      assert.equal(await clipboard(page), `${root.slice(1)}#1`);
      await page.goto(`${root}/-/blob/main/src/cable.js`);
      await page.getByRole('button', { name: 'Copy the content' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      assert.equal(await clipboard(page), 'const a = 1;\n');
    },
    { permissions },
  );
});

test('filters projects, files and settings as one types', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    const own = page.locator('#own-projects > *:visible');
    assert.equal(await own.count(), 2);
    await page.getByLabel('Filter your projects').fill('nothing like it');
    assert.equal(await own.count(), 0);
    await page.getByLabel('Filter your projects').fill(name.toUpperCase());
    assert.equal(await own.count(), 1);
    await page.goto('/dashboard/projects');
    const listed = page.locator('#listed-projects > *:visible');
    assert.equal(await listed.count(), 2);
    await page.getByLabel('Name', { exact: true }).fill(name.toUpperCase());
    assert.equal(await listed.count(), 1);
    await page.goto(`${root}/-/find_file/main`);
    await page.locator('#search').fill('cable');
    const paths = await page.locator('#paths > *:visible').allInnerTexts();
    assert.deepEqual(
      paths.map((path) => path.trim()),
      ['src/cable.js'],
    );
  });
  const admin = await web.makeUser({ admin: true });
  await web.withPage(async (page) => {
    await web.signIn(page, admin);
    await page.waitForURL('/');
    await page.goto('/admin/application_settings');
    const settings = page.locator('.setting:visible');
    const all = await settings.count();
    await page.getByLabel('Filter settings').fill('signup_enabled');
    assert.ok((await settings.count()) < all);
    assert.equal(await page.locator('.setting-group:visible').count(), 1);
    await page.getByRole('button', { name: 'Save changes' }).waitFor();
    await web.assertFine(page);
  });
});

test('shows a password that is typed, and sends it hidden', { skip }, async () => {
  await web.withPage(async (page) => {
    await page.goto('/users/sign_in');
    const field = page.getByLabel('Password', { exact: true });
    await field.fill(password);
    await page.getByRole('button', { name: 'Show the typed text' }).click();
    assert.equal(await field.getAttribute('type'), 'text');
    assert.equal(await field.inputValue(), password);
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Show the typed text' }).click();
    assert.equal(await field.getAttribute('type'), 'password');
    await page.getByLabel('User name or e-mail').fill(login);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL('/');
  });
});

test('shows a preview, and the text again', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto(`${root}/issues/1`);
    const area = page.getByRole('textbox', { name: 'Add a comment' });
    await area.fill('A **bold** word');
    await page.keyboard.press('Control+Shift+P');
    await page.locator('.preview strong', { hasText: 'bold' }).waitFor();
    assert.equal(await area.isVisible(), false);
    await page.getByRole('button', { name: 'Write' }).first().click();
    assert.equal(await area.inputValue(), 'A **bold** word');
    assert.equal(await page.locator('.preview:visible').count(), 0);
  });
});

test('the palette finds issues by number and files of the project', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto(root);
    const dialog = page.getByRole('dialog', { name: 'Search or jump to' });
    for (const [key, words, target] of [
      ['/', '#1', `${root}/issues/1`],
      ['s', 'drum', `${root}/-/blob/main/docs/drum.md`],
    ] as const) {
      await page.keyboard.press(key);
      await dialog.getByRole('combobox').fill(words);
      await dialog.locator(`a[href="${target}"]`).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${target}`);
    }
  });
});

test('files are found by letters of their path, and Enter opens the first', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto(`${root}/-/find_file/main`);
    const field = page.getByRole('textbox', { name: 'Letters of the path' });
    await field.pressSequentially('docdrum');
    await page.getByText('1 file', { exact: true }).waitFor();
    await web.assertFine(page);
    await field.fill('nothing of this');
    await page.getByText('0 files', { exact: true }).waitFor();
    // A page without all files, which would need thousands.
    await page.evaluate("document.querySelector('[data-filter-status]').dataset.cut = ''");
    await field.fill('nothing at all');
    await page
      .getByText(
        /^0 files of the \d+ shown\. Not all files are listed: type part of a path, and press Search\.$/,
      )
      .waitFor();
    await field.fill('drum.md');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${root}/-/blob/main/docs/drum.md`);
  });
});
