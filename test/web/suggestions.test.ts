/** What fields suggest: also values that are not among the first hundred. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember, seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let root: string;
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'public' });
  root = `/${full_path}`;
  username = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, { user: body[0].id, project: id, access_level: 40 });
  const add = async (name: string) =>
    await web.gantry.api(`POST /projects/${id}/labels`, { json: { name, color: '#336699' } });
  for (let at = 0; at < 100; at += 1) await add(`area ${at}`);
  await add('zz needle');
  await web.gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Repaint the railing' } });
  await web.gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Other' } });
});
after(async () => {
  if (skip === false) await web.close();
});

const option = (page: Page, list: string, value: string) =>
  page.locator(`#${list} option[value=${JSON.stringify(value)}]`);

test('the API is searched where the first hundred are not all', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(`${root}/issues/2`);
    await page.getByText('Edit labels').click();
    const labels = page.getByLabel('Further labels');
    await labels.focus();
    await option(page, 'add_labels_list', 'area 1').waitFor({ state: 'attached' });
    assert.equal(await option(page, 'add_labels_list', 'zz needle').count(), 0);
    await labels.pressSequentially('area 1, need');
    await option(page, 'add_labels_list', 'area 1, zz needle').waitFor({ state: 'attached' });
    // An issue is found by its title.
    await page.getByText('Edit linked issues').click();
    await page.getByLabel('Link an issue').fill('railing');
    const linked = option(page, 'link_reference_list', '#1');
    await linked.waitFor({ state: 'attached' });
    assert.equal(await linked.getAttribute('label'), 'Repaint the railing');
    await page.goto(`${root}/issues`);
    await page.locator('input[data-terms]').pressSequentially('label:need');
    await option(page, 'filter_terms', 'label:"zz needle"').waitFor({ state: 'attached' });
  });
});

test('an issue is assigned to oneself by one click', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(`${root}/issues/1`);
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.locator('.aside a.person', { hasText: 'A User' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Assign to me' }).count(), 0);
    await web.assertFine(page);
  });
});
