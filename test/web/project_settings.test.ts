/** What maintainers and owners do in the settings of a project, in a browser without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedGroup, seedProject, seedUser } from '../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let login: string;
let project: { id: number; full_path: string };
let base: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
  const [{ id }] = (await web.gantry.api(`GET /users?username=${login}`)).body;
  const group = await seedGroup(web.gantry, { owner: id, visibility: 'private' });
  project = await seedProject(web.gantry, { namespace: group.id, visibility: 'private' });
  base = `/${project.full_path}/-`;
});
after(async () => {
  if (skip === false) await web.close();
});

const open = async (page: Page, path: string): Promise<void> => {
  await web.signIn(page, login);
  await page.waitForURL('/');
  await page.goto(path);
};

const notice = async (page: Page): Promise<string> => (await page.getByRole('status').textContent()) ?? '';

const withoutScripts = { javaScriptEnabled: false };

const load = async () => (await web.gantry.api(`GET /projects/${project.id}`)).body;

test('an owner edits the settings, one form at a time', { skip }, async () => {
  await web.withPage(async (page) => {
    await open(page, `/${project.full_path}`);
    await page.getByRole('link', { name: 'Settings' }).click();
    assert.equal(pathOf(page), `${base}/settings`);
    const about = page.getByRole('region', { name: 'Name and description' });
    await about.getByLabel('Description').fill('Plans bridges');
    await about.getByRole('button', { name: 'Save changes' }).click();
    assert.equal(await notice(page), 'The settings were saved.');
    await page.getByLabel('Snippets').selectOption({ label: 'Disabled' });
    await page.getByRole('region', { name: 'Features' }).getByRole('button').click();
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'CI/CD' }).click();
    await page.getByLabel('Public pipelines').uncheck();
    await page.getByRole('region', { name: 'Pipelines' }).getByRole('button').click();
    const { description, snippets_access_level, public_jobs } = await load();
    assert.deepEqual([description, snippets_access_level, public_jobs], ['Plans bridges', 'disabled', false]);
  }, withoutScripts);
});

test('an owner adds a member, changes the role, and removes the member', { skip }, async () => {
  const { id, username } = await seedUser(web.gantry);
  const role = async (): Promise<number | undefined> =>
    (await web.gantry.api(`GET /projects/${project.id}/members/${id}`)).body.access_level;
  await web.withPage(async (page) => {
    await open(page, `${base}/project_members`);
    const add = page.getByRole('region', { name: 'Add a member' });
    await add.getByLabel('User').fill(`Name of ${username}`);
    await add.getByLabel('Role').selectOption({ label: 'Reporter' });
    await add.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel(`(@${username})`).check();
    await page.getByRole('button', { name: 'Add member' }).click();
    assert.equal(await role(), 20);
    const row = page.getByRole('listitem').filter({ hasText: `@${username}` });
    await row.getByText('Edit').click();
    await row.getByLabel('Role').selectOption({ label: 'Maintainer' });
    await row.getByRole('button', { name: /^Save/ }).click();
    assert.equal(await role(), 40);
    await row.getByText('Edit').click();
    await row.getByRole('button', { name: /^Remove/ }).click();
    assert.equal(await notice(page), 'The member was removed.');
    assert.equal(await role(), undefined);
  }, withoutScripts);
});

test('an owner protects a branch, and deletes the project by typing its path', { skip }, async () => {
  await web.withPage(async (page) => {
    await open(page, `${base}/protected_branches`);
    await page.getByLabel('Branch', { exact: true }).fill('release/*');
    await page.getByLabel('Allowed to push').selectOption({ label: 'Nobody' });
    await page.getByRole('button', { name: 'Protect', exact: true }).click();
    assert.equal(await notice(page), 'release/* was protected.');
    await page.goto(`${base}/settings`);
    await page.getByLabel(/^Type .* to confirm$/).fill('something else');
    await page.getByRole('button', { name: 'Delete project' }).click();
    assert.match((await page.locator('#confirm_error').textContent()) ?? '', /full path/);
    await page.getByLabel(/^Type .* to confirm$/).fill(project.full_path);
    await page.getByRole('button', { name: 'Delete project' }).click();
    assert.equal(pathOf(page), '/');
    assert.equal((await web.gantry.api(`GET /projects/${project.id}`)).status, 404);
  }, withoutScripts);
});
