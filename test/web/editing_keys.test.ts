/** Keys of a Markdown field: lists continue and end with Enter, Tab indents their items, a pasted address makes a link. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let root: string;
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const seeded = await seedProject(web.gantry, { visibility: 'public' });
  root = `/${seeded.full_path}`;
  username = await web.makeUser();
  await web.gantry.api(`POST /projects/${seeded.id}/issues`, { json: { title: 'Repaint' } });
});
after(async () => {
  if (skip === false) await web.close();
});

const comment = (page: Page) => page.getByRole('textbox', { name: 'Add a comment' });

const openIssue = async (page: Page): Promise<void> => {
  await web.signIn(page, username);
  await page.waitForURL('**/');
  const loaded = page.waitForResponse(/editor_tools-\w+\.js$/);
  await page.goto(`${root}/issues/1`);
  await comment(page).focus();
  await loaded;
  // The module runs after its answer has arrived.
  await page.waitForFunction(`document.querySelector('.completion-status') !== null`);
};

/** Sets the text, with the caret or selection where `|` stands, and presses keys. Returns the same. */
const edit = async (page: Page, text: string, ...keys: string[]): Promise<string> => {
  const [before = '', ...rest] = text.split('|');
  await comment(page).fill(text.replaceAll('|', ''));
  const end = before.length + (rest.length > 1 ? (rest[0]?.length ?? 0) : 0);
  await page.evaluate(`document.querySelector('#new_comment').setSelectionRange(${before.length}, ${end})`);
  for (const key of keys) await page.keyboard.press(key);
  return await page.evaluate<string>(`{
    const area = document.querySelector('#new_comment');
    const { value, selectionStart: from, selectionEnd: to } = area;
    value.slice(0, from) + '|' + (to > from ? value.slice(from, to) + '|' : '') + value.slice(to);
  }`);
};

test('Enter continues lists, tasks and quotes, and ends them on an empty item', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    for (const [text, result] of [
      ['- a|', '- a\n- |'],
      ['  * a|b', '  * a\n  * |b'],
      ['9. a|', '9. a\n10. |'],
      ['1) a|', '1) a\n2) |'],
      ['- [x] a|', '- [x] a\n- [ ] |'],
      ['> a|', '> a\n> |'],
      ['> - a|', '> - a\n> - |'],
      ['- a\n- |', '- a\n|'],
      ['- [ ] |', '|'],
      ['> - |', '> |'],
      ['> |', '|'],
      // Neither in a text, nor before the item, nor in code.
      ['a|', 'a\n|'],
      ['|- a', '\n|- a'],
      ['-a|', '-a\n|'],
      ['```\n- a|', '```\n- a\n|'],
      ['- |a|', '- \n|'],
    ] as const)
      assert.equal(await edit(page, text, 'Enter'), result, JSON.stringify(text));
    assert.equal(await edit(page, '- a|', 'Shift+Enter'), '- a\n|');
    assert.equal(await edit(page, '- a|', 'Enter', 'Control+z'), '- a|');
  });
});

test(
  'Tab indents items of lists, and leaves the field everywhere else and after Escape',
  { skip },
  async () => {
    await web.withPage(async (page) => {
      await openIssue(page);
      for (const [text, key, result] of [
        ['- a\n- b|', 'Tab', '- a\n  - b|'],
        ['1. a\n- b|', 'Tab', '1. a\n   - b|'],
        ['- a\n|- b\n- c|', 'Tab', '- a\n  |- b\n  - c|'],
        ['- a\n  - b|', 'Shift+Tab', '- a\n- b|'],
      ] as const)
        assert.equal(await edit(page, text, key), result, JSON.stringify(text));
      const isFocused = async (): Promise<boolean> =>
        (await page.locator(':focus').getAttribute('id')) === 'new_comment';
      assert.equal(await isFocused(), true);
      for (const [text, ...keys] of [
        ['a|', 'Tab'],
        ['- a|', 'Shift+Tab'],
        ['- a|', 'Escape', 'Tab'],
      ] as const) {
        assert.equal((await edit(page, text, ...keys)).replace('|', ''), text.replace('|', ''));
        assert.equal(await isFocused(), false, text);
      }
      await page.keyboard.press('Shift+Tab');
      assert.equal(await isFocused(), true);
    });
  },
);

test('an address pasted over a text makes a link of it', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    const paste = async (text: string, pasted: string): Promise<string> => {
      await edit(page, text);
      await page.evaluate(`{
        const data = new DataTransfer();
        data.setData('text/plain', ${JSON.stringify(pasted)});
        const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(event);
      }`);
      return await comment(page).inputValue();
    };
    assert.equal(
      await paste('see |the page| now', 'https://a.example/b_(c)'),
      'see [the page](https://a.example/b_%28c%29) now',
    );
    // The browser pastes these itself, which a made-up event does not do.
    for (const [text, pasted] of [
      ['|a|', 'words'],
      ['|https://b.example|', 'https://a.example'],
      ['a|', 'https://a.example'],
      ['|a|', 'javascript:alert(1)'],
    ] as const)
      assert.equal(await paste(text, pasted), text.replaceAll('|', ''));
    await page.goto(`${root}/issues/1`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByText('Indent a list or code in its field; Escape, then Tab leaves it').waitFor();
  });
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`the buttons fit a phone, in ${colorScheme}`, { skip }, async () => {
    const viewport = { width: 375, height: 700 };
    await web.withPage(
      async (page) => {
        await openIssue(page);
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(width <= viewport.width, String(width));
        await web.assertFine(page);
        const shots = process.env['SHOTS'];
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/editor-${colorScheme}.png`, fullPage: true });
      },
      { colorScheme, viewport },
    );
  });
