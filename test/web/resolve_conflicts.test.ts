/** Resolves the conflicts of a merge request in a browser, with and without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { type Web, noticeOn, openWeb, skip } from './web.ts';

let web: Web;
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  username = await web.makeUser();
});
after(async () => {
  if (skip === false) await web.close();
});

const lines = (word: string): string =>
  `export const rules = [\n  'one',\n  'two',\n  '${word} is a rather long line that does not fit on the screen of a phone, so that it scrolls',\n  'four',\n];\n`;

const openConflict = async (): Promise<{ project: Coded; path: string }> => {
  const { gantry } = web;
  const project = await seedCoded(gantry, { visibility: 'private' });
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  const files = (word: string) => ({ 'src/rules.ts': lines(word), 'notes.txt': `${word}\n` });
  await seedCommit(gantry, project.id, files('base'), { branch: 'main', from: 'main' });
  await seedBranch(gantry, project, 'topic', { files: files('source') });
  await seedCommit(gantry, project.id, files('target'), { branch: 'main', from: 'main' });
  const { iid } = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  return { project, path: `/${project.full_path}/merge_requests/${iid}` };
};

const read = async ({ id }: Coded, path: string): Promise<string> =>
  (await web.gantry.api(`GET /projects/${id}/repository/files/${encodeURIComponent(path)}/raw?ref=topic`))
    .text;

const resolve = async (page: Page, hasScripts: boolean): Promise<void> => {
  const check = async (): Promise<void> => {
    if (hasScripts) await web.assertFine(page);
  };
  const { project, path } = await openConflict();
  await web.signIn(page, username);
  await page.waitForURL('**/');
  await page.goto(path);
  await check();
  await page.getByRole('link', { name: 'Resolve conflicts' }).click();
  await page.getByRole('heading', { name: 'Resolve conflicts' }).waitFor();
  await check();
  const rules = page.locator('.conflict-file', { hasText: 'src/rules.ts' });
  await rules.getByLabel('Use main (target branch)').check();
  const notes = page.locator('.conflict-file', { hasText: 'notes.txt' });
  assert.equal(await notes.getByRole('textbox').isVisible(), false);
  await notes.getByLabel('Edit the whole text').check();
  assert.equal(await notes.getByLabel('Use both').isVisible(), false);
  await page.getByRole('button', { name: 'Commit to source branch' }).click();
  await page.getByText('The text still has marks of conflicts').waitFor();
  await check();
  assert.ok(await rules.getByLabel('Use main (target branch)').isChecked());
  if (hasScripts) {
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    assert.ok(width <= (page.viewportSize()?.width ?? 0), `needs ${width} pixels`);
  }
  await notes.getByRole('textbox').fill('both\n');
  await page.getByRole('button', { name: 'Commit to source branch' }).click();
  await page.waitForURL(`**${path}`);
  assert.match(await noticeOn(page), /The conflicts were resolved/);
  assert.deepEqual(
    [await read(project, 'src/rules.ts'), await read(project, 'notes.txt')],
    [lines('target'), 'both\n'],
  );
};

const looks: Record<string, BrowserContextOptions> = {
  'on a wide screen': { colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  'on a phone': { colorScheme: 'dark', viewport: { width: 375, height: 812 } },
  'without scripts': { javaScriptEnabled: false },
};

for (const [name, options] of Object.entries(looks)) {
  test(`chooses sides and edits a text ${name}`, { skip }, async () => {
    await web.withPage(async (page) => await resolve(page, options.javaScriptEnabled !== false), options);
  });
}
