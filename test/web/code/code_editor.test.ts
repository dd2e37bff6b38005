/** The editor of files: keys that indent, the preview of changes, drafts, templates. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../support/seed.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, skip } from '../web.ts';

let web: Web;
let root: string;
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'private' });
  root = `/${full_path}/-`;
  username = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, {
    user: (body as { id: number }[])[0]?.id ?? 0,
    project: id,
    access_level: 40,
  });
  const code = Array.from({ length: 30 }, (_line, at) => `    line(${at + 1});\n`).join('');
  await seedCommit(web.gantry, id, { 'main.ts': `function main() {\n${code}}\n`, 'a.md': '# A\n' });
  await settle(web.gantry);
});
after(async () => {
  if (skip === false) await web.close();
});

const content = (page: Page) => page.getByRole('textbox', { name: 'Content' });

const openEditor = async (page: Page, path: string): Promise<void> => {
  await web.signIn(page, username);
  await page.waitForURL('**/');
  const loaded = page.waitForResponse(/editor_tools-\w+\.js$/);
  await page.goto(`${root}/${path}`);
  await content(page).focus();
  await loaded;
  await page.waitForFunction(`document.querySelector('textarea') === document.activeElement`);
};

const type = async (page: Page, text: string, caret: number, ...keys: string[]): Promise<string> => {
  await content(page).fill(text);
  await page.evaluate(`document.querySelector('[name=content]').setSelectionRange(${caret}, ${caret})`);
  for (const key of keys) await page.keyboard.press(key);
  return await content(page).inputValue();
};

test('Tab and Enter indent code; Escape, then Tab leaves the field', { skip }, async () => {
  await web.withPage(async (page) => {
    await openEditor(page, 'edit/main/main.ts');
    assert.equal(await type(page, 'a\n  b', 5, 'Enter'), 'a\n  b\n  ');
    assert.equal(await type(page, 'a', 0, 'Tab'), '  a');
    assert.equal(await type(page, 'if\n    a', 2, 'Tab'), 'if  \n    a');
    assert.equal(await type(page, 'if\n\ta', 0, 'Tab'), '\tif\n\ta');
    assert.equal(await type(page, 'if\n    a', 8, 'Shift+Tab'), 'if\na');
    assert.equal(await type(page, 'a\nb\nc', 0, 'Shift+ArrowDown', 'Shift+ArrowDown', 'Tab'), '  a\n  b\nc');
    assert.equal(await type(page, 'a', 1, 'Escape', 'Tab'), 'a');
    assert.notEqual(await page.locator(':focus').getAttribute('name'), 'content');
    await page.getByText('press Escape, then Tab').waitFor();
  });
});

test('shows the changes, keeps the text and its draft, and commits it', { skip }, async () => {
  await web.withPage(async (page) => {
    await openEditor(page, 'edit/main/a.md');
    await content(page).fill('# A\n\n- [ ] more\n');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor();
    assert.equal(await page.locator('tr.add').count(), 2);
    assert.equal(await content(page).inputValue(), '# A\n\n- [ ] more\n');
    await web.assertFine(page);
    // A window that is closed now loses nothing.
    await page.goto(`${root}/edit/main/a.md`);
    assert.equal(await content(page).inputValue(), '# A\n\n- [ ] more\n');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Preview', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Commit changes' }).click();
    await page.getByText('The file was saved.').waitFor();
    await page.goto(`${root}/edit/main/a.md`);
    assert.equal(await page.getByText('Restored what you had not sent').count(), 0);
  });
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`works without scripts on a phone, in ${colorScheme}`, { skip }, async () => {
    const viewport = { width: 375, height: 700 };
    await web.withPage(
      async (page) => {
        await web.signIn(page, username);
        await page.goto(`${root}/edit/main/main.ts`);
        assert.equal(await page.getByText('press Escape, then Tab').isVisible(), false);
        await content(page).fill('function main() {\n}\n');
        await page.getByRole('button', { name: 'Preview changes' }).click();
        assert.equal(await page.locator('tr.del').count(), 30);
        const shots = process.env['SHOTS'];
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/preview-${colorScheme}.png`, fullPage: true });
        await page.goto(`${root}/new/main`);
        await page.getByLabel('Template').selectOption({ label: 'MIT License' });
        await page.getByRole('button', { name: 'Insert template' }).click();
        assert.equal(await page.getByLabel('Path').inputValue(), 'LICENSE');
        assert.equal(await page.getByLabel('Template').inputValue(), 'licenses/mit');
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/new-${colorScheme}.png`, fullPage: true });
      },
      { colorScheme, viewport, javaScriptEnabled: false },
    );
    await web.withPage(
      async (page) => {
        await openEditor(page, 'new/main');
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(width <= viewport.width, String(width));
        await web.assertFine(page);
      },
      { colorScheme, viewport },
    );
  });
