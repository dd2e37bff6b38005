/** What people do with issues in a browser: read, filter, comment, tick; by keyboard, on a phone, without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedMember, seedProject } from '../support/seed.ts';
import { assertSeeEachOther } from './talk_of_two.ts';
import { type Web, followOnly, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let list: string;
let api: string;
let username: string;

const sizes = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 375, height: 700 } },
] as const;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  const project = await seedProject(gantry, { visibility: 'public' });
  list = `/${project.full_path}/issues`;
  api = `/projects/${project.id}`;
  username = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  const description = 'Some `code`\n\n```js\nconst a = 1;\n```\n\n- [ ] first\n- [x] second';
  for (const title of ['Oldest', 'Middle', 'Newest']) {
    const json = { title, description, labels: 'bug,area::solver', due_date: '2020-01-01' };
    await gantry.api(`POST /projects/${project.id}/issues`, { json });
  }
  const thread = `/projects/${project.id}/issues/1/discussions`;
  const made = await gantry.api(`POST ${thread}`, { json: { body: 'A **question**' } });
  await gantry.api(`POST ${thread}/${made.body.id}/notes`, { json: { body: 'An answer' } });
});
after(async () => {
  if (skip === false) await web.close();
});

const assertNarrow = async (page: Page): Promise<void> => {
  const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(excess <= 0, `${pathOf(page)} is ${excess} pixels too wide`);
};

test('pages of issues are accessible, in both schemes and on a phone', { skip }, async () => {
  for (const size of sizes) {
    await web.withPage(async (page) => {
      await web.signIn(page, username);
      for (const path of ['', '?labels=bug', '/1', '/1/edit', '/new']) {
        await page.goto(list + path);
        await web.assertFine(page);
        await assertNarrow(page);
      }
      await page.goto(`${list}/1`);
      for (const summary of await page.locator('.edit > summary').all()) await summary.click();
      await web.assertFine(page);
      await assertNarrow(page);
    }, size);
  }
});

test('an open issue shows what others change, except under an open form', { skip }, async () => {
  const made = await web.gantry.api(`POST ${api}/issues`, { json: { title: 'Before' } });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(`${list}/${made.body.iid}`);
    await followOnly(page);
    const json = { title: 'Afterwards', add_labels: 'seen', confidential: true, state_event: 'close' };
    await web.gantry.api(`PUT ${api}/issues/${made.body.iid}`, { json });
    await page.getByRole('heading', { name: 'Afterwards' }).waitFor();
    const head = page.locator('#issue_state');
    await head.getByText('Closed', { exact: true }).waitFor();
    await page.getByText('This issue is confidential').waitFor();
    const side = page.getByRole('complementary', { name: 'Properties' });
    await side.getByRole('link', { name: 'seen' }).waitFor();
    await side.getByRole('button', { name: 'Copy the reference' }).waitFor();
    await side.locator('summary', { hasText: 'Edit labels' }).click();
    const labels = side.getByLabel('Further labels');
    await labels.fill('mine');
    await web.gantry.api(`PUT ${api}/issues/${made.body.iid}`, {
      json: { title: 'At last', add_labels: 'later' },
    });
    await page.getByRole('heading', { name: 'At last' }).waitFor();
    assert.equal(await labels.inputValue(), 'mine');
    await web.assertFine(page);
  });
});

test("two people see each other's comments on an issue, and keep what they type", { skip }, async () => {
  const { body } = await web.gantry.api(`POST ${api}/issues`, { json: { title: 'Of two' } });
  const other = await web.makeUser({ name: 'A Colleague' });
  await assertSeeEachOther(web, `${list}/${body.iid}`, [username, other]);
  // Other tests count on the order of the open issues.
  await web.gantry.api(`PUT ${api}/issues/${body.iid}`, { json: { state_event: 'close' } });
});

test('reads a list by keyboard, opens an issue and edits it', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(list);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.waitForURL(`**${list}/2`);
    await page.keyboard.press('e');
    await page.getByLabel('Title').fill('Between');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Between' }).waitFor();
  });
});

test('a tick of a task is stored', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/3`);
    await page.getByRole('checkbox', { name: 'first' }).click();
    await page.getByText('2 of 2 tasks done').waitFor();
    assert.equal(await page.getByRole('checkbox', { name: 'first' }).isChecked(), true);
  });
});

test('a tick of a task works without scripts', { skip }, async () => {
  const { gantry } = web;
  const project = await seedProject(gantry, { visibility: 'public' });
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  const issue = `/projects/${project.id}/issues`;
  const description = '- [ ] the **"main"** <deck>\n  - [x] rails\n\n1. [ ] loose\n\n2. [ ] last';
  await gantry.api(`POST ${issue}`, { json: { title: 'Span', description } });
  const { body: note } = await gantry.api(`POST ${issue}/1/notes`, { json: { body: '- [ ] oil' } });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(`/${project.full_path}/issues/1`);
      await page.getByRole('checkbox', { name: 'the "main"', checked: false }).click();
      await page.getByText('2 of 4 tasks done').waitFor();
      await page.getByRole('checkbox', { name: 'rails', checked: true }).press('Space');
      await page.getByText('1 of 4 tasks done').waitFor();
      await page.getByRole('checkbox', { name: 'loose' }).click();
      await page.getByText('2 of 4 tasks done').waitFor();
      await page.getByRole('checkbox', { name: 'oil' }).click();
      await page.getByRole('checkbox', { name: 'oil', checked: true }).waitFor();
    },
    { javaScriptEnabled: false, viewport: { width: 375, height: 812 } },
  );
  const saved = '- [x] the **"main"** <deck>\n  - [ ] rails\n\n1. [x] loose\n\n2. [ ] last';
  assert.equal((await gantry.api(`GET ${issue}/1`)).body.description, saved);
  assert.equal((await gantry.api(`GET ${issue}/1/notes/${note.id}`)).body.body, '- [x] oil');
});

test('edits, ticks and quotes comments in the page', { skip }, async () => {
  const { gantry } = web;
  const project = await seedProject(gantry, { visibility: 'public' });
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  const issue = `/projects/${project.id}/issues`;
  await gantry.api(`POST ${issue}`, { json: { title: 'Gauge', description: 'Old text' } });
  const { body: note } = await gantry.api(`POST ${issue}/1/notes`, { json: { body: '- [ ] oil\n\nDone?' } });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`/${project.full_path}/issues/1`);
    // A mark that a load of the page would remove.
    await page.evaluate('window.isSamePage = true');
    await page.getByRole('checkbox', { name: 'oil' }).click();
    await page.locator(`#note_${note.id} [aria-checked=true]`).waitFor();
    await page.getByRole('link', { name: /^Quote the comment/ }).click();
    const reply = page.getByRole('textbox', { name: 'Reply' });
    await reply.and(page.locator(':focus')).waitFor();
    assert.equal(await reply.inputValue(), '> - [x] oil\n> \n> Done?\n\n');
    await reply.press('Control+Shift+P');
    await page.locator(`#note_${note.id} .preview blockquote`).waitFor();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Write' }).first().click();
    await reply.fill('');
    await page.getByRole('link', { name: /^Edit the comment/ }).click();
    const comment = page.getByRole('textbox', { name: 'Comment', exact: true });
    await web.assertFine(page);
    await gantry.api(`PUT ${issue}/1/notes/${note.id}`, { json: { body: 'Theirs' } });
    await comment.fill('Mine');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('alert').getByText('Somebody edited this comment').waitFor();
    await page.getByText('Theirs', { exact: true }).first().waitFor();
    assert.equal(await comment.inputValue(), 'Mine');
    await page.getByRole('button', { name: 'Overwrite with my version' }).click();
    await page.locator(`#note_${note.id} .prose`).getByText('Mine').waitFor();
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'Title' }).fill('Tide gauge');
    await page.getByRole('textbox', { name: 'Description' }).fill('New text');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { name: 'Tide gauge' }).waitFor();
    await page.locator('#description').getByText('New text').waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
  });
});

test('completes what is typed into the filter', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(list);
    const box = page.getByLabel('Filter issues');
    const proposed = async (typed: string, one: string): Promise<string[]> => {
      await box.fill(typed);
      await page.locator(`#filter_terms option[value='${one}']`).waitFor({ state: 'attached' });
      return await page.evaluate<string[]>(
        "[...document.querySelectorAll('#filter_terms option')].map(({ value }) => value)",
      );
    };
    assert.ok((await proposed('ne -la', 'ne -label:')).includes('ne -assignee:'));
    assert.ok((await proposed('label:b', 'label:bug')).includes('label:area::solver'));
    assert.ok((await proposed('label:bug assignee:', `label:bug assignee:${username}`)).length > 3);
    assert.ok((await proposed('due:', 'due:overdue')).includes('due:late'));
    assert.deepEqual((await proposed('is:', 'is:open')).toSorted(), [
      'is:all',
      'is:closed',
      'is:confidential',
      'is:open',
      'is:opened',
    ]);
    await box.fill('label:bug due:overdue old');
    await box.press('Enter');
    await page.getByRole('link', { name: 'Oldest' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Newest' }).count(), 0);
  });
});

test('filters, comments and closes without scripts', { skip }, async () => {
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(list);
      await page.getByRole('combobox', { name: 'Filter issues' }).fill('label:bug Oldest');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${list}?labels=bug&search=Oldest`);
      await page.getByText('1 open issue matches').waitFor();
      await page.getByRole('link', { name: 'Oldest', exact: true }).click();
      await page.getByRole('textbox', { name: 'Add a comment' }).fill('Seen\n/due 2030-01-01');
      await page.getByRole('button', { name: 'Comment', exact: true }).click();
      await page.getByText('Seen', { exact: true }).waitFor();
      await page.getByText('1 Jan 2030').waitFor();
      await page.getByText('Edit labels').click();
      await page.getByLabel('Further labels').fill('fresh');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.getByRole('link', { name: 'fresh' }).first().waitFor();
      await page.getByRole('button', { name: 'Close issue' }).click();
      await page.getByRole('button', { name: 'Reopen issue' }).waitFor();
    },
    { javaScriptEnabled: false },
  );
});

test('selects rows by keyboard and closes them together', { skip }, async () => {
  const { gantry } = web;
  const project = await seedProject(gantry, { visibility: 'public' });
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
  for (const title of ['One', 'Two', 'Three'])
    await gantry.api(`POST /projects/${project.id}/issues`, { json: { title, labels: 'area::solver' } });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`/${project.full_path}/issues`);
    for (const key of 'jxjx') await page.keyboard.press(key);
    const summary = page.locator('summary', { hasText: 'Edit selected' });
    assert.match(await summary.innerText(), /2/);
    await summary.click();
    await web.assertFine(page);
    await page.getByLabel('Add labels').focus();
    await page.locator('#bulk_add_labels_list option[value="area::solver"]').waitFor({ state: 'attached' });
    await page.getByLabel('Add labels').fill('done');
    await page.getByLabel('State', { exact: true }).selectOption('close');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('2 issues changed.').waitFor();
    assert.deepEqual(await page.locator('.list .title').allInnerTexts(), ['One']);
    await page.goto(`/${project.full_path}/issues?state=all`);
    await page.getByLabel('Select all').check();
    assert.equal(await page.locator('[data-select]:checked').count(), 3);
  });
});

test('changes selected rows without scripts', { skip }, async () => {
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(list);
      await page.locator('[data-select]').first().check();
      await page.locator('summary', { hasText: 'Edit selected' }).click();
      await page.getByLabel('Add labels').fill('from a form');
      await page.getByRole('button', { name: 'Change selected' }).click();
      await page.getByRole('status').getByText('1 issue changed.').waitFor();
    },
    { javaScriptEnabled: false },
  );
});

test('open pages of a browser follow changes over one connection', { skip }, async () => {
  const { gantry } = web;
  const project = await seedProject(gantry, { visibility: 'public' });
  const issues = `/projects/${project.id}/issues`;
  for (const title of ['One', 'Two']) await gantry.api(`POST ${issues}`, { json: { title } });
  const comment = async (iid: number, body: string): Promise<void> => {
    assert.equal((await gantry.api(`POST ${issues}/${iid}/notes`, { json: { body } })).status, 201);
  };
  await web.withPage(async (first) => {
    let connections = 0;
    first.context().on('request', (request) => {
      if (request.url().endsWith('/api/v4/changes')) connections += 1;
    });
    const connected = first.waitForRequest('**/api/v4/changes');
    await web.signIn(first, username);
    await first.waitForURL('/');
    await first.goto(`/${project.full_path}/issues/1`);
    await connected;
    const second = await first.context().newPage();
    await second.goto(`/${project.full_path}/issues/2`);
    await comment(2, 'To the second page');
    await second.getByText('To the second page').waitFor();
    assert.equal(connections, 1);
    // The other page takes the connection over.
    const takenOver = second.waitForRequest('**/api/v4/changes');
    await first.close();
    await takenOver;
    await comment(2, 'Still following');
    await second.getByText('Still following').waitFor();
  });
});
