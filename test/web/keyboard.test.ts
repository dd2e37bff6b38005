/** The command palette and the keyboard shortcuts in a real browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember, seedProject, unique } from '../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
before(async () => {
  web = await openWeb();
});
after(async () => await web.close());

test('jumps to a project by the keyboard', { skip }, async () => {
  const path = unique('crane');
  const { full_path } = await seedProject(web.gantry, { path, visibility: 'public' });
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search or jump to' });
    const field = dialog.getByRole('combobox', { name: 'Search or jump to' });
    await field.fill(path);
    const option = dialog.getByRole('option', { name: full_path });
    await option.waitFor();
    // The focus stays in the field, which names the selected option.
    assert.equal(await field.getAttribute('aria-expanded'), 'true');
    const listId = await dialog.getByRole('listbox', { name: 'Results' }).getAttribute('id');
    assert.equal(await field.getAttribute('aria-controls'), listId);
    assert.equal(await field.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
    assert.equal(await option.getAttribute('aria-selected'), 'true');
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await field.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
    assert.equal(await dialog.locator('[aria-selected=true]').count(), 1);
    await page.keyboard.press('ArrowUp');
    assert.match((await dialog.getByRole('status').textContent()) ?? '', /^\d+ results$/);
    assert.equal(await dialog.getByRole('group', { name: 'Projects' }).count(), 1);
    await web.assertFine(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(`/${full_path}`);
    assert.equal(pathOf(page), `/${full_path}`);
  });
});

test('changes the color scheme by the keyboard, and stays on the page', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto('/explore?sort=name_asc');
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search or jump to' });
    await dialog.getByRole('combobox').fill('color scheme dark');
    const option = dialog.getByRole('option', { name: 'Color scheme: Dark' });
    await option.waitFor();
    // Behind the link to the search.
    await page.keyboard.press('ArrowDown');
    assert.equal(await option.getAttribute('aria-selected'), 'true');
    assert.equal(await dialog.getByRole('group', { name: 'Actions' }).count(), 1);
    await web.assertFine(page);
    await page.keyboard.press('Enter');
    await page.locator('html[data-scheme=dark]').waitFor();
    assert.equal(pathOf(page), '/explore');
    assert.equal(new URL(page.url()).search, '?sort=name_asc');
  });
});

/** Presses keys one after the other: `g i`. */
const press = async (page: Page, keys: string): Promise<void> => {
  for (const key of keys.split(' ')) await page.keyboard.press(key);
};

const prepare = async (): Promise<{ root: string; login: string }> => {
  const { gantry } = web;
  const { id, full_path } = await seedProject(gantry, { visibility: 'private' });
  await seedCommit(gantry, id, { 'src/a.js': 'const a = 1;\n' });
  const json = { title: 'Leak', description: 'Water comes in.' };
  assert.equal((await gantry.api(`POST /projects/${id}/issues`, { json })).status, 201);
  const login = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${login}`);
  await seedMember(gantry, { user: body[0].id, project: id, access_level: 40 });
  return { root: `/${full_path}`, login };
};

test('keys lead through a project, and edit an issue', { skip }, async () => {
  const { root, login } = await prepare();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto(root);
    for (const [keys, path] of [
      ['g i', '/-/issues'],
      ['g p', ''],
      ['g f', '/tree'],
      ['g c', '/-/commits'],
      ['g j', '/-/jobs'],
      ['g l', '/-/pipelines'],
      ['g r', '/-/releases'],
      ['g m', '/-/merge_requests'],
      ['g v', '/-/activity'],
      ['g e', '/-/environments'],
      ['g s', '/-/snippets'],
      ['t', '/-/find_file'],
    ] as const) {
      // The field to find a file has the focus.
      await page.keyboard.press('Escape');
      await press(page, keys);
      await page.waitForURL(new RegExp(`${root}(?:/-)?${path.replace('/-', '')}(?:/main)?$`));
    }
    await page.goto(`${root}/-/issues`);
    await press(page, 'f');
    await page.locator('.filter-bar :is(input, textarea):focus').waitFor();
    await page.goto(`${root}/-/blob/main/src/a.js`);
    await press(page, 'y');
    await page.waitForURL(/\/-\/blob\/[0-9a-f]{40}\/src\/a\.js$/);
    await page.goto(`${root}/-/issues/1`);
    for (const [key, field] of [
      ['l', 'Further labels'],
      ['m', 'Milestone'],
      ['a', 'Further assignees'],
    ] as const) {
      await press(page, key);
      await page.getByLabel(field).waitFor();
      await page.keyboard.press('Escape');
    }
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('.prose'))");
    await press(page, 'r');
    assert.match(
      await page.getByRole('textbox', { name: 'Add a comment' }).inputValue(),
      /^> Water comes in\.\n\n$/,
    );
    await page.keyboard.press('Escape');
    await press(page, '?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Go to the commits').waitFor();
    await web.assertFine(page);
    await page.keyboard.press('Escape');
    await press(page, 'e');
    await page.getByRole('textbox', { name: 'Title' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await press(page, 'i');
    await page.waitForURL(`${root}/issues/new`);
  });
});

test('marks to-do items as done, one after the other', { skip }, async () => {
  const { gantry } = web;
  const { id } = await seedProject(gantry, { visibility: 'public' });
  const login = await web.makeUser();
  for (const title of ['First', 'Second', 'Third']) {
    await gantry.api(`POST /projects/${id}/issues`, { json: { title, description: `@${login}` } });
  }
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto('/dashboard/todos');
    await web.assertFine(page);
    await press(page, 'j d');
    await page.getByText('2 items', { exact: true }).waitFor();
    await press(page, 'd');
    await page.getByText('1 item', { exact: true }).waitFor();
    assert.deepEqual(await page.locator('.todo-group h2 a').allInnerTexts(), ['First']);
  });
});

test('single keys do nothing once the setting turns them off', { skip }, async () => {
  const { root, login } = await prepare();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await page.goto('/profile/preferences');
    await page.getByLabel('Single-key shortcuts').uncheck();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('status').waitFor();
    await page.goto(`${root}/-/issues/1`);
    for (const keys of ['?', 'g i', 't', 'i', 'e', 'l', 'r', 's', 'T']) await press(page, keys);
    // Had a key been followed, this shortcut would be on another page.
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search or jump to' }).waitFor();
    assert.equal(pathOf(page), `${root}/issues/1`);
    assert.equal(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count(), 0);
  });
});
