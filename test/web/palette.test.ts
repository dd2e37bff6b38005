/** The command palette in a real browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject, unique } from '../support/seed.ts';
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
    await dialog.getByRole('textbox').fill(path);
    await dialog.getByRole('link', { name: full_path }).waitFor();
    await web.assertFine(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(`/${full_path}`);
    assert.equal(pathOf(page), `/${full_path}`);
  });
});
