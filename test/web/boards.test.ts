/** What people do with boards in a browser: drag, move by keyboard, on a phone, without scripts. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedGroup, seedMember, seedProject } from '../support/seed.ts';
import { type Web, followOnly, openWeb, skip } from './web.ts';

let web: Web;
let username: string;
let userId: number;
let api: string;
let path: string;
let groupPath: string;
let lists: { todo: number; doing: number };

const sizes = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 375, height: 700 } },
] as const;

const must = async (line: string, json: object = {}): Promise<{ id: number }> => {
  const { status, body, text } = await web.gantry.api(line, line.startsWith('GET') ? {} : { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { visibility: 'public', namespace: group.id });
  username = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${username}`);
  userId = body[0].id;
  await seedMember(gantry, { user: userId, group: group.id, access_level: 20 });
  api = `/projects/${project.id}`;
  const { id: board } = await must(`POST ${api}/boards`, { name: 'Work' });
  path = `/${project.full_path}/-/boards/${board}`;
  const list = async (name: string): Promise<number> => {
    const { id: label_id } = await must(`POST ${api}/labels`, { name, color: '#1f75cb' });
    return (await must(`POST ${api}/boards/${board}/lists`, { label_id, max_issue_count: 2 })).id;
  };
  lists = { todo: await list('todo'), doing: await list('doing') };
  await must(`POST ${api}/boards/${board}/lists`, { assignee_id: userId });
  const { id: ofGroup } = await must(`POST /groups/${group.id}/boards`, { name: 'All' });
  groupPath = `/groups/${group.full_path}/-/boards/${ofGroup}`;
});
after(async () => {
  if (skip === false) await web.close();
});

/** Three issues in the column of `todo`, in their order. */
beforeEach(async () => {
  if (skip !== false) return;
  const { body } = await web.gantry.api(`GET ${api}/issues?state=opened`);
  for (const { iid } of body) await web.gantry.api(`DELETE ${api}/issues/${iid}`);
  for (const title of ['First', 'Second', 'Third']) {
    const fields = { title, labels: 'todo,bug', due_date: '2020-01-01', assignee_ids: [1] };
    await must(`POST ${api}/issues`, fields);
  }
});

const column = (page: Page, list: number | string) => page.locator(`[data-list="${list}"]`);

const mostTries = 600;

/** Waits until a column has these cards, by their titles. */
const waitForCards = async (page: Page, list: number | string, titles: string[]): Promise<void> => {
  let shown: string[] = [];
  for (let tries = 0; tries < mostTries && shown.join() !== titles.join(); tries += 1) {
    shown = await column(page, list).locator('[data-row]').allTextContents();
    if (shown.join() !== titles.join()) await page.waitForTimeout(100);
  }
  assert.deepEqual(shown, titles);
};

const iidOf = async (title: string): Promise<number> => {
  const { body } = await web.gantry.api(`GET ${api}/issues?state=opened&search=${title}`);
  return body[0].iid;
};

test('boards are accessible, in both schemes and on a phone', { skip }, async () => {
  // A card in the last column of open issues, which stands right of the window of a phone.
  await must(`POST ${api}/issues`, { title: 'Fourth', labels: 'todo,bug', assignee_ids: [userId] });
  for (const size of sizes) {
    await web.withPage(async (page) => {
      await web.signIn(page, username);
      for (const address of [path, `${path}?labels=bug`, `${path}/edit`, groupPath, `${groupPath}/edit`]) {
        await page.goto(address);
        await web.assertFine(page);
        const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(excess <= 0, `${address} is ${excess} pixels too wide`);
      }
      await page.goto(path);
      await column(page, lists.todo).locator('summary').first().click();
      await web.assertFine(page);
    }, size);
  }
});

test('drags a card to another column, and within one', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    const card = (title: string) => page.locator('.board-card', { hasText: title });
    await card('Second').dragTo(column(page, lists.doing).locator('.cards'));
    await waitForCards(page, lists.doing, ['Second']);
    await waitForCards(page, lists.todo, ['First', 'Third']);
    await page.getByText('Moved to doing').waitFor({ state: 'attached' });
    await card('Third').dragTo(card('First'), { targetPosition: { x: 20, y: 2 } });
    await waitForCards(page, lists.todo, ['Third', 'First']);
    await page.reload();
    await waitForCards(page, lists.todo, ['Third', 'First']);
  });
  const { body } = await web.gantry.api(`GET ${api}/issues?search=Second&state=opened`);
  assert.deepEqual(body[0].labels, ['bug', 'doing']);
});

test('shows what others change, once no menu is open', { skip }, async () => {
  for (const address of [path, groupPath]) {
    await web.withPage(async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      await page.goto(address);
      await followOnly(page);
      const card = page.locator('.board-card', { hasText: 'Fresh' });
      const { iid } = (await must(`POST ${api}/issues`, { title: 'Fresh' })) as unknown as { iid: number };
      await card.waitFor();
      const menu = page.locator('.board-card', { hasText: 'First' }).locator('summary').first();
      if (address === path) await menu.click();
      const read = page.waitForResponse((answer) => answer.url().endsWith(address));
      const title = address === path ? 'Renamed' : 'Named again';
      await must(`PUT ${api}/issues/${iid}`, { title });
      await read;
      if (address === path) {
        assert.equal(await card.count(), 1);
        await menu.click();
      }
      await page.locator('.board-card', { hasText: title }).waitFor();
      await must(`PUT ${api}/issues/${iid}`, { state_event: 'close' });
    });
  }
});

test('moves a card by keyboard, which keeps the focus', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    await page.locator('[data-row]', { hasText: 'First' }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await waitForCards(page, lists.todo, ['Second', 'First', 'Third']);
    await page.keyboard.press('Alt+ArrowRight');
    await waitForCards(page, lists.doing, ['First']);
    await page.keyboard.press('Alt+ArrowLeft');
    await waitForCards(page, lists.todo, ['First', 'Second', 'Third']);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'First');
    await page.keyboard.press('?');
    await page.getByText('Move the card up').waitFor();
  });
});

test(
  'lets authors without a role drag their cards within a column, to Closed and back',
  { skip },
  async () => {
    const author = await web.makeUser();
    const titles = ['Mine', 'Mine, too'];
    for (const title of titles) await must(`POST ${api}/issues?sudo=${author}`, { title });
    // In a window that shows all columns, so that no drag scrolls.
    const wide = { viewport: { width: 2000, height: 900 } };
    await web.withPage(async (page) => {
      await web.signIn(page, author);
      await page.goto(path);
      const card = (title: string) =>
        page.locator('.board-card', { has: page.getByText(title, { exact: true }) });
      // The answer puts the focus on the card, and would end the next drag.
      const answered = async (title: string) =>
        await page.locator('[data-row]:focus', { hasText: new RegExp(`^${title}$`) }).waitFor();
      await card('Mine, too').dragTo(card('Mine'), { targetPosition: { x: 20, y: 2 } });
      await answered('Mine, too');
      await waitForCards(page, 'open', ['Mine, too', 'Mine']);
      await card('Mine').dragTo(column(page, lists.doing).locator('.cards'));
      await answered('Mine');
      await waitForCards(page, 'open', ['Mine, too', 'Mine']);
      await card('Mine').dragTo(column(page, 'closed').locator('.cards'));
      await column(page, 'closed').getByRole('link', { name: 'Mine', exact: true }).waitFor();
      await page.getByText('Moved to Closed').waitFor({ state: 'attached' });
      await card('Mine').dragTo(column(page, 'open').locator('.cards'));
      await page.getByText('Moved to Open').waitFor({ state: 'attached' });
      assert.equal(await card('First').getAttribute('draggable'), null);
    }, wide);
    const { body } = await web.gantry.api(`GET ${api}/issues?state=opened&author_username=${author}`);
    assert.deepEqual(body.map(({ title }: { title: string }) => title).toSorted(), titles);
  },
);

test('moves cards of authors without a role by keyboard, where they may', { skip }, async () => {
  const author = await web.makeUser();
  for (const title of ['Mine', 'Mine, too']) await must(`POST ${api}/issues?sudo=${author}`, { title });
  await web.withPage(async (page) => {
    await web.signIn(page, author);
    await page.goto(path);
    await waitForCards(page, 'open', ['Mine', 'Mine, too']);
    await page.getByRole('link', { name: 'Mine', exact: true }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await waitForCards(page, 'open', ['Mine, too', 'Mine']);
    await page.keyboard.press('Alt+ArrowRight');
    await page.getByText('You can move this card only to Closed.').waitFor({ state: 'attached' });
    await waitForCards(page, 'open', ['Mine, too', 'Mine']);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Mine');
    await page.locator('[data-row]', { hasText: 'First' }).focus();
    await page.keyboard.press('Alt+ArrowDown');
    await page.keyboard.press('Alt+ArrowRight');
    await waitForCards(page, lists.todo, ['First', 'Second', 'Third']);
  });
});

test('moves a card by its menu, with and without scripts', { skip }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    await web.withPage(
      async (page) => {
        await web.signIn(page, username);
        await page.goto(`${path}?labels=bug`);
        await page.locator('.board-card', { hasText: 'First' }).locator('summary').click();
        await page.getByRole('button', { name: javaScriptEnabled ? 'doing' : 'Closed', exact: true }).click();
        const target = javaScriptEnabled ? lists.doing : 'closed';
        await column(page, target).getByRole('link', { name: 'First' }).waitFor();
        assert.match(page.url(), /\?labels=bug/);
      },
      { javaScriptEnabled },
    );
  }
});

test('edits the properties of a card in a dialog, by keyboard', { skip }, async () => {
  const { id: milestone } = await must(`POST ${api}/milestones`, { title: 'Soon' });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    const card = page.locator('.board-card', { hasText: 'First' });
    const openDialog = async (): Promise<void> => {
      await card.locator('summary').first().focus();
      await page.keyboard.press('Enter');
      await card.getByRole('link', { name: 'Edit properties' }).focus();
      await page.keyboard.press('Enter');
    };
    await openDialog();
    const dialog = page.getByRole('dialog', { name: 'First' });
    await dialog.waitFor();
    await web.assertFine(page);
    await dialog.getByText('Edit milestone').focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Milestone').selectOption(String(milestone));
    await dialog
      .locator('section', { hasText: 'Milestone' })
      .getByRole('button', { name: 'Save' })
      .press('Enter');
    await dialog.getByRole('link', { name: 'Soon' }).waitFor();
    await card.getByTitle('Milestone').waitFor();
    // A choice that is refused says why.
    await dialog.getByText('Edit due').click();
    await must(`PUT ${api}/issues/${await iidOf('First')}`, { due_date: '2030-02-03' });
    await dialog.getByLabel('Due date').fill('2030-01-02');
    await dialog.getByLabel('Due date').press('Enter');
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'First');
    await openDialog();
    await dialog.getByText('Edit labels').click();
    await dialog.getByLabel('doing', { exact: true }).check();
    await dialog.getByLabel('todo', { exact: true }).uncheck();
    await dialog.locator('section', { hasText: 'Labels' }).getByRole('button', { name: 'Save' }).click();
    await waitForCards(page, lists.doing, ['First']);
    await dialog.getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'First');
  });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(path);
      const card = page.locator('.board-card', { hasText: 'Second' });
      await card.locator('summary').first().click();
      await card.getByRole('link', { name: 'Edit properties' }).click();
      await page.waitForURL(/\/issues\/\d+$/);
      await page.getByRole('heading', { name: 'Second' }).waitFor();
    },
    { javaScriptEnabled: false },
  );
});

test('leads from the project to its board by g b, and adds an issue to a column', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path.replace(/\/-\/.*/, ''));
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.waitForURL(`**${path}`);
    await page.getByTitle('New issue in todo').click();
    await page.locator('details[open]').getByLabel('Title').fill('Added');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#list-/);
    await waitForCards(page, lists.todo, ['Added', 'First', 'Second', 'Third']);
    await page.getByText('4 of 2').waitFor();
  });
});

test('shows the moves of others, and keeps the focus', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    await page.locator('[data-row]', { hasText: 'Third' }).focus();
    const { body } = await web.gantry.api(`GET ${api}/issues?search=Second&state=opened`);
    await web.gantry.api(`PUT ${api}/issues/${body[0].iid}`, { json: { labels: 'doing' } });
    await page.evaluate(`window.dispatchEvent(new Event('focus'))`);
    await waitForCards(page, lists.doing, ['Second']);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Third');
  });
});
