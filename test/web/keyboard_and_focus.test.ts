/** Keys of the top bar and of lists, where the focus goes, menus without a mouse, and less motion, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember, seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let root: string;
let login: string;

before(async () => {
  web = await openWeb();
  const { gantry } = web;
  const { id, full_path } = await seedProject(gantry, { visibility: 'private' });
  root = `/${full_path}`;
  login = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${login}`);
  await seedMember(gantry, { user: body[0].id, project: id, access_level: 40 });
  const snippet = { title: 'Span', file_name: 'span.js', content: 'x', visibility: 'private' };
  for (const [path, json] of [
    ['issues', { title: 'Leak' }],
    ['milestones', { title: 'One' }],
    ['snippets', snippet],
  ] as const) {
    const made = await gantry.api(`POST /projects/${id}/${path}`, { json });
    assert.equal(made.status, 201, made.text);
  }
});
after(async () => await web.close());

const withUser = async (work: (page: Page) => Promise<void>, options = {}): Promise<void> =>
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await work(page);
  }, options);

test('keys open the search and the lists of own work', { skip }, async () => {
  await withUser(async (page) => {
    const dialog = page.getByRole('dialog', { name: 'Search or jump to' });
    for (const key of ['/', 's']) {
      await page.goto('/explore');
      await page.keyboard.press(key);
      await dialog.getByRole('combobox').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
    }
    for (const [key, path] of [
      ['I', '/dashboard/issues'],
      ['M', '/dashboard/merge_requests'],
      ['T', '/dashboard/todos'],
    ] as const) {
      await page.goto('/explore');
      await page.keyboard.press(`Shift+${key}`);
      await page.waitForURL(`**${path}*`);
    }
  });
});

test('keys open the form of a new record and of the one that is shown', { skip }, async () => {
  await withUser(async (page) => {
    for (const [path, key, target] of [
      ['/-/issues', 'c', '/issues/new'],
      ['/-/issues', 'i', '/issues/new'],
      ['/-/milestones/1', 'e', '/milestones/1/edit'],
      ['/-/snippets/1', 'e', '/snippets/1/edit'],
    ] as const) {
      await page.goto(root + path);
      await page.keyboard.press(key);
      await page.waitForURL(`**${target}`);
    }
  });
});

test('the focus returns to where it was when the palette and a dialog close', { skip }, async () => {
  await withUser(async (page) => {
    await page.goto(`${root}/-/issues`);
    const link = page.getByRole('link', { name: 'Leak' });
    for (const key of ['Control+k', '?']) {
      await link.focus();
      await page.keyboard.press(key);
      await page.locator('dialog[open]').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      assert.equal(await link.evaluate((one) => one === one.ownerDocument.activeElement), true, key);
    }
  });
});

test('menus open and close by the keyboard and by touch', { skip }, async () => {
  const isOpen = async (page: Page): Promise<boolean> =>
    await page.getByRole('link', { name: 'New snippet' }).isVisible();
  await withUser(
    async (page) => {
      await page.goto('/explore');
      const menu = page.locator('summary', { hasText: 'Create' });
      await menu.focus();
      await page.keyboard.press('Enter');
      assert.equal(await isOpen(page), true);
      await page.keyboard.press('Escape');
      assert.equal(await isOpen(page), false);
      assert.equal(await menu.evaluate((one) => one === one.ownerDocument.activeElement), true);
      await menu.tap();
      assert.equal(await isOpen(page), true);
    },
    { hasTouch: true },
  );
});

test('nothing moves for those who asked for less motion', { skip }, async () => {
  const longest = `Math.max(...[...document.querySelectorAll('*')].flatMap((one) => {
    const { transitionDuration, animationDuration, animationName } = getComputedStyle(one);
    const seconds = (text) => Math.max(...text.split(',').map((one) => parseFloat(one) || 0));
    return [seconds(transitionDuration), animationName === 'none' ? 0 : seconds(animationDuration)];
  }))`;
  await withUser(
    async (page) => {
      for (const path of ['/', `${root}/-/issues/1`]) {
        await page.goto(path);
        await page.evaluate(`document.querySelector('main').style.transition = 'opacity 3s'`);
        assert.equal(await page.evaluate(longest), 0, path);
      }
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      assert.equal(await page.evaluate(longest), 3, 'others see what moves');
    },
    { reducedMotion: 'reduce' },
  );
});

test('a page has one main heading, one main part and one top bar', { skip }, async () => {
  await withUser(async (page) => {
    for (const path of ['/', root, '/-/issues', '/-/issues/1', '/-/settings', '/no-such-page'].map((one) =>
      one.startsWith('/-/') ? root + one : one,
    )) {
      await page.goto(path);
      const counts = await page.evaluate(
        `[...['h1', 'main', 'header.topbar'].map((one) => document.querySelectorAll(one).length)]`,
      );
      assert.deepEqual(counts, [1, 1, 1], path);
    }
  });
});
