/** What a browser does for Markdown that is being written: buttons that format, and completion of references. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember, seedProject, unique } from '../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let root: string;
let project: number;
let username: string;
let member: string;
const memberName = 'Grace Hopper';

const idOf = async (name: string): Promise<number> => {
  const { body } = await web.gantry.api(`GET /users?username=${name}`);
  return (body as { id: number }[])[0]?.id ?? 0;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const seeded = await seedProject(web.gantry, { visibility: 'public' });
  [root, project] = [`/${seeded.full_path}`, seeded.id];
  [username, member] = [await web.makeUser(), await web.makeUser({ name: memberName })];
  for (const name of [username, member])
    await seedMember(web.gantry, { user: await idOf(name), project, access_level: 40 });
  const post = async (below: string, json: object) =>
    await web.gantry.api(`POST /projects/${project}/${below}`, { json });
  await post('issues', { title: 'Repaint the railing' });
  await post('labels', { name: 'needs work', color: '#cc3300' });
  await post('milestones', { title: 'Opening day' });
});
after(async () => {
  if (skip === false) await web.close();
});

const comment = (page: Page) => page.getByRole('textbox', { name: 'Add a comment' });
const list = (page: Page) => page.getByRole('listbox', { name: 'Completions' });
const option = (page: Page, name: string | RegExp) => list(page).getByRole('option', { name });

const openIssue = async (page: Page): Promise<void> => {
  await web.signIn(page, username);
  await page.waitForURL('**/');
  const loaded = page.waitForResponse(/editor_tools-\w+\.js$/);
  await page.goto(`${root}/issues/1`);
  await comment(page).focus();
  await loaded;
};

/** Types a text and waits until an option is offered. */
const typeUntil = async (page: Page, text: string, name: string | RegExp): Promise<void> => {
  await comment(page).pressSequentially(text);
  await option(page, name).waitFor();
};

test('references and emoji are completed by the keyboard', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    await typeUntil(page, 'Ask @gra', memberName);
    const active = await comment(page).getAttribute('aria-activedescendant');
    assert.equal(await option(page, memberName).getAttribute('id'), active);
    assert.equal(await option(page, memberName).getAttribute('aria-selected'), 'true');
    await page.getByText('1 completion').waitFor();
    await web.assertFine(page);
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), `Ask @${member} `);
    assert.equal(await list(page).count(), 0);
    await typeUntil(page, 'about #rep', /Repaint the railing/);
    await page.keyboard.press('Tab');
    await typeUntil(page, '~nee', 'needs work');
    await page.keyboard.press('Enter');
    await typeUntil(page, '%op', /Opening day/);
    await page.keyboard.press('Enter');
    await typeUntil(page, ':tad', /tada/);
    await page.keyboard.press('Enter');
    const text = `Ask @${member} about #1 ~"needs work" %"Opening day" :tada: `;
    assert.equal(await comment(page).inputValue(), text);
    // It is a draft like what is typed, and Ctrl+Enter sends it.
    await page.reload();
    assert.equal(await comment(page).inputValue(), text);
    await comment(page).press('Control+Enter');
    await page.locator('.note .prose', { hasText: 'about #1' }).waitFor();
  });
});

test('quick actions are offered at the start of a line, and nowhere else', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    await typeUntil(page, 'Please\n/ass', '/assign');
    await list(page).getByText('@user · Assign users').waitFor();
    await web.assertFine(page);
    await page.keyboard.press('Enter');
    await typeUntil(page, '@gra', memberName);
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), `Please\n/assign @${member} `);
    // Elsewhere a slash is a slash: the emoji that is typed after it is completed.
    await typeUntil(page, 'and/or /clo :tad', /tada/);
    assert.equal(await list(page).getByRole('option', { name: '/close' }).count(), 0);
    await comment(page).fill('');
    await page.getByRole('link', { name: 'quick actions' }).first().click();
    await page.getByRole('heading', { name: 'Quick actions', level: 1 }).waitFor();
  });
});

test('Enter takes nothing that was not asked for', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    assert.equal(await page.locator('.markdown-editor:has(#new_comment) > [role=status]').count(), 1);
    // The answer for what was typed since has not arrived.
    await typeUntil(page, '@gra', memberName);
    const requested = page.waitForRequest(/completions\?kind=user&search=grax/);
    await page.route('**/-/completions?*', () => undefined);
    await comment(page).pressSequentially('x');
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), '@grax\n');
    await comment(page).fill('');
    await comment(page).pressSequentially('@grax');
    await requested;
    await page.unroute('**/-/completions?*');
    // A lone sign is a percentage, until an arrow key chooses.
    await comment(page).fill('');
    await typeUntil(page, '100 %', /Opening day/);
    assert.equal(await comment(page).getAttribute('aria-activedescendant'), null);
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), '100 %\n');
    await typeUntil(page, '%', /Opening day/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), '100 %\n%"Opening day" ');
  });
});

test('arrows choose, Escape closes the list alone, and a click takes', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    await typeUntil(page, '@', memberName);
    const first = await comment(page).getAttribute('aria-activedescendant');
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await comment(page).getAttribute('aria-activedescendant'), first);
    await page.keyboard.press('ArrowUp');
    assert.equal(await comment(page).getAttribute('aria-activedescendant'), first);
    await page.keyboard.press('Escape');
    assert.equal(await list(page).count(), 0);
    assert.equal(await page.locator(':focus').getAttribute('id'), 'new_comment');
    await page.keyboard.press('Enter');
    assert.equal(await comment(page).inputValue(), '@\n');
    await typeUntil(page, '@gr', memberName);
    await option(page, memberName).click();
    assert.equal(await comment(page).inputValue(), `@\n@${member} `);
    // With the list open, Ctrl+Enter sends.
    await typeUntil(page, '#1 ~', 'needs work');
    await page.keyboard.press('Control+Enter');
    await page.locator('.note .prose', { hasText: '~' }).waitFor();
  });
});

test('buttons format the selection, by the keyboard as well', { skip }, async () => {
  await web.withPage(async (page) => {
    await openIssue(page);
    const toolbar = page.getByRole('toolbar', { name: 'Add a comment: format' });
    const press = async (name: string) => await toolbar.getByRole('button', { name, exact: true }).click();
    const select = async (text: string) => {
      await comment(page).fill(text);
      await comment(page).selectText();
    };
    for (const [button, text, formatted] of [
      ['Bold', 'a b', '**a b**'],
      ['Italic', 'a', '*a*'],
      ['Code', 'a', '`a`'],
      ['Code', 'a\nb', '```\na\nb\n```'],
      ['Quote', 'a\nb', '> a\n> b'],
      ['List', 'a\nb', '- a\n- b'],
      ['Task list', 'a\nb', '- [ ] a\n- [ ] b'],
      ['Numbered list', 'a\nb', '1. a\n2. b'],
      ['Numbered list', '1. a\n2. b', 'a\nb'],
      ['Heading', 'a', '## a'],
      ['Strikethrough', 'a', '~~a~~'],
      ['Table', 'a', 'a\n\n| Column | Column |\n| ------ | ------ |\n|        |        |\n'],
      ['Link', 'a', '[a](url)'],
      ['Link', 'https://a.example', '[](https://a.example)'],
    ] as const) {
      await select(text);
      await press(button);
      assert.equal(await comment(page).inputValue(), formatted, button);
    }
    for (const [button, text, [start, end], formatted] of [
      ['Bold', 'one two', [0, 4], '**one** two'],
      ['Italic', 'bar', [1, 2], 'b*a*r'],
      ['Italic', '**a**', [2, 3], '***a***'],
      ['Bold', '*a*', [1, 2], '***a***'],
      ['List', 'a\nb', [0, 2], '- a\nb'],
      ['Code', 'a\nb', [0, 2], '`a`\nb'],
    ] as const) {
      await comment(page).fill(text);
      await page.evaluate(`document.querySelector('#new_comment').setSelectionRange(${start}, ${end})`);
      await press(button);
      assert.equal(await comment(page).inputValue(), formatted, `${button} ${text}`);
    }
    // A second time removes the format, and all can be undone.
    await select('a');
    await page.keyboard.press('Control+b');
    assert.equal(await comment(page).inputValue(), '**a**');
    await page.keyboard.press('Control+b');
    assert.equal(await comment(page).inputValue(), 'a');
    await page.keyboard.press('Control+z');
    assert.equal(await comment(page).inputValue(), '**a**');
    // One stop of the Tab key; arrow keys move between the buttons.
    await toolbar.getByRole('button', { name: 'Bold' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    const focused = page.locator(':focus');
    assert.equal(await focused.getAttribute('aria-label'), 'Table');
    assert.equal(await toolbar.locator('[tabindex="0"]').count(), 1);
    await comment(page).fill('a');
    await page.keyboard.press('Shift+Tab');
    await web.assertFine(page);
  });
});

test('replies have the same tools; without scripts there are no buttons', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.gantry.api(`POST /projects/${project}/issues/1/discussions`, { json: { body: 'A thread' } });
    await openIssue(page);
    const thread = page.locator('.thread, article.note', { hasText: 'A thread' }).first();
    await thread.locator('details.reply > summary').click();
    const reply = thread.locator('textarea').first();
    await reply.pressSequentially('@grac');
    await option(page, memberName).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await reply.inputValue(), `@${member} `);
    await thread.getByRole('button', { name: 'Quote', exact: true }).click();
    assert.equal(await reply.inputValue(), `> @${member} `);
  });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(`${root}/issues/1`);
      assert.equal(await page.getByRole('toolbar').count(), 0);
    },
    { javaScriptEnabled: false },
  );
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`the list stands in the window of a phone, in ${colorScheme}`, { skip }, async () => {
    const viewport = { width: 375, height: 700 };
    await web.withPage(
      async (page) => {
        await openIssue(page);
        // So far right that the list must move to the left.
        await typeUntil(page, `${'x'.repeat(28)} @`, memberName);
        const box = await list(page).boundingBox();
        assert.ok(box !== null && box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box));
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(width <= viewport.width, String(width));
        await web.assertFine(page);
        await page.goto('/profile/account');
        await web.assertFine(page);
        await page.goto('/');
        await web.assertFine(page);
      },
      { colorScheme, viewport },
    );
  });

test('somebody renames and then deletes their account', { skip }, async () => {
  await web.withPage(async (page) => {
    const name = await web.makeUser();
    const next = unique('renamed');
    await web.signIn(page, name);
    await page.waitForURL('**/');
    await page.goto('/profile/account');
    await page.getByRole('textbox', { name: 'User name', exact: true }).fill(next);
    await page.getByLabel('Current password').first().fill('correct horse');
    await page.getByRole('button', { name: 'Change user name' }).click();
    await page.getByText(`Your user name is ${next}.`).waitFor();
    await page.getByLabel(`Type ${next} to confirm`).fill(next);
    await page.getByLabel('Current password').last().fill('correct horse');
    await page.getByRole('button', { name: 'Delete my account' }).click();
    await page.getByText('Your account was deleted.').waitFor();
    assert.equal(pathOf(page), '/users/sign_in');
  });
});
