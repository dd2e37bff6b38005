/** A review by keyboard: files, comments, threads, viewed marks and its end; also on a phone and without scripts. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { setImmediate as afterOtherWork } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { html, streamed } from '../../src/doors/web/parts/html.ts';
import { pageStream } from '../../src/doors/web/request/page_stream.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded } from '../support/seed_merge_requests.ts';
import { type Web, followOnly, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let project: Coded;
let username: string;
let userId: number;

const numbered = (count: number, word: string): string =>
  Array.from({ length: count }, (_line, at) => `const ${word}${at + 1} = ${at + 1};\n`).join('');

/**
 * Opens a merge request of three files, with an open thread on the second.
 * @param more files of a second commit
 */
const open = async (
  branch: string,
  { more, ...given }: { more?: Record<string, string>; reviewer_ids?: number[] } = {},
): Promise<string> => {
  const { gantry } = web;
  const files = {
    'src/a.ts': numbered(40, 'a').replace('a20 = 20', 'a20 = 21'),
    'src/b.ts': numbered(12, 'fresh'),
    'src/c.ts': null,
  };
  await seedBranch(gantry, project, branch, { files });
  if (more !== undefined) await seedCommit(gantry, project.id, more, { branch, from: branch });
  const { iid } = await openRequest(gantry, project, branch, given);
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const [version] = (await gantry.api(`GET ${api}/versions`)).body;
  const position = {
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
    position_type: 'text',
    new_path: 'src/b.ts',
    new_line: 3,
  };
  const made = await gantry.api(`POST ${api}/discussions`, {
    json: { body: 'Is `fresh` **good**?', position },
  });
  assert.equal(made.status, 201, made.text);
  return `/${project.full_path}/merge_requests/${iid}/diffs`;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  project = await seedCoded(gantry, { visibility: 'public' });
  username = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${username}`);
  userId = body[0].id;
  await seedMember(gantry, { user: userId, project: project.id, access_level: 40 });
  await seedCommit(gantry, project.id, { 'src/a.ts': numbered(40, 'a'), 'src/c.ts': numbered(3, 'c') });
});
after(async () => {
  if (skip === false) await web.close();
});

const focused = async (page: Page): Promise<string> =>
  await page.evaluate<string>(
    `document.activeElement.closest('.thread-card, .diff-file')?.getAttribute('aria-label') ?? ''`,
  );

const press = async (page: Page, ...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};

/** Presses a key until an element with this accessible name has the focus. */
const pressUntil = async (page: Page, key: string, name: string | RegExp): Promise<void> => {
  const names: string[] = [];
  for (let tries = 0; tries < 120; tries += 1) {
    await page.keyboard.press(key);
    const current = await page.evaluate<string>(`(() => {
      const { activeElement: element } = document;
      const label = element.labels?.[0]?.textContent ?? element.textContent;
      return (element.getAttribute('aria-label') ?? label).replaceAll(/\\s+/g, ' ').trim();
    })()`);
    if (typeof name === 'string' ? current === name : name.test(current)) return;
    names.push(current);
  }
  assert.fail(`${key} does not lead to ${String(name)}, but to ${names.join(', ')}`);
};

test('reviews by keyboard alone', { skip }, async () => {
  const path = await open('by-keyboard');
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(path);
    await press(page, ']');
    assert.equal(await focused(page), 'src/a.ts');
    await press(page, 'j', '[', ']');
    assert.equal(await focused(page), 'src/b.ts');
    await press(page, 'n');
    assert.match(await focused(page), /^Open thread of/);
    await press(page, 'p');
    assert.match(await focused(page), /^Open thread of/);
    // A comment on a line: its number is a link, and arrows lead from line to line.
    await press(page, '[');
    assert.equal(await focused(page), 'src/a.ts');
    await pressUntil(page, 'Tab', 'Comment on line 17, unchanged');
    await pressUntil(page, 'ArrowDown', 'Comment on line 20, added');
    await press(page, 'ArrowDown', 'ArrowUp', 'Enter');
    await page.getByRole('textbox', { name: 'Comment on line 20' }).waitFor();
    await page.keyboard.type('Why 21?');
    await press(page, 'Control+Enter');
    await page.getByText('Pending', { exact: true }).waitFor();
    await page.getByLabel('1 pending').waitFor();
    // A reply that resolves the thread.
    await press(page, 'n');
    await pressUntil(page, 'Tab', 'Reply');
    await press(page, 'Enter');
    await pressUntil(page, 'Tab', 'Reply');
    await page.keyboard.type('It is.');
    await pressUntil(page, 'Tab', 'Resolve the thread');
    await press(page, 'Space');
    await web.assertFine(page);
    await pressUntil(page, 'Tab', 'Reply');
    await press(page, 'Enter');
    await page.getByText('Resolved by A User').waitFor();
    // Viewed, and on to the next file.
    await press(page, '[', '[', 'v');
    await page.getByText('1 of 3 files viewed').waitFor();
    await page.getByRole('checkbox', { name: 'Fold src/a.ts', checked: true }).waitFor();
    assert.equal(await focused(page), 'src/b.ts');
    await press(page, 'R');
    await pressUntil(page, 'Tab', 'Summary');
    await page.keyboard.type('Good work');
    await web.assertFine(page);
    await pressUntil(page, 'Tab', 'Comment');
    await pressUntil(page, 'ArrowDown', 'Approve');
    await pressUntil(page, 'Tab', 'Submit review');
    await press(page, 'Enter');
    await page.waitForURL(`**${path.replace('/diffs', '')}`);
    await page.getByText('Good work').waitFor();
  });
});

test('steps through the unresolved threads of the overview', { skip }, async () => {
  const path = (await open('overview')).replace('/diffs', '');
  const api = `/projects/${project.id}/merge_requests/${path.split('/').at(-1)}/discussions`;
  const { body: resolved } = await web.gantry.api(`POST ${api}`, { json: { body: 'Done' } });
  await web.gantry.api(`PUT ${api}/${resolved.id}`, { json: { resolved: true } });
  await web.gantry.api(`POST ${api}`, { json: { body: 'Open' } });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(path);
    const focusedText = async (): Promise<string> =>
      await page.evaluate<string>(`document.activeElement.closest('[data-unresolved]')?.textContent ?? ''`);
    for (const [key, text] of [
      ['n', 'fresh'],
      ['n', 'Open'],
      ['p', 'fresh'],
      ['p', 'Open'],
    ] as const) {
      await press(page, key);
      assert.ok((await focusedText()).includes(text), `${key}: ${text}`);
    }
    await web.assertFine(page);
  });
});

test('inserts the chosen lines as a suggestion, after what was typed', { skip }, async () => {
  const path = await open('suggests');
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(path);
    await page.getByRole('link', { name: 'Comment on line 19, unchanged' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 19' }).fill('Better:');
    await page.getByRole('link', { name: 'Comment on line 20, added' }).click({ modifiers: ['Shift'] });
    await page.getByRole('link', { name: 'Insert a suggestion' }).click();
    const text = page.getByRole('textbox', { name: 'Comment on line 20' });
    const block = '```suggestion:-1+0\nconst a19 = 19;\nconst a20 = 21;\n```';
    let value = '';
    while (!value.includes('suggestion')) value = await text.inputValue();
    assert.equal(value, `Better:\n\n${block}`);
    await web.assertFine(page);
    await page.getByRole('link', { name: 'Comment on line 20, removed' }).click();
    assert.equal(await page.getByRole('link', { name: 'Insert a suggestion' }).isVisible(), false);
  });
});

test(
  "two people see each other's threads in the Changes tab, and keep what they type",
  { skip },
  async () => {
    const path = await open('together');
    const other = await web.makeUser({ name: 'A Colleague' });
    await web.withPage(async (mine) => {
      await web.signIn(mine, username);
      await mine.waitForURL('**/');
      await mine.goto(path);
      await web.withPage(async (theirs) => {
        await web.signIn(theirs, other);
        await theirs.waitForURL('**/');
        await theirs.goto(path);
        await followOnly(mine);
        await mine.getByRole('link', { name: 'Comment on line 18, unchanged' }).click();
        const draft = mine.getByRole('textbox', { name: 'Comment on line 18' });
        await draft.fill('Half a sente');
        await theirs.getByRole('link', { name: 'Comment on line 20, added' }).click();
        await theirs.getByRole('textbox', { name: 'Comment on line 20' }).fill('Why that?');
        await theirs.getByRole('button', { name: 'Comment now' }).click();
        await theirs.getByText('Why that?').waitFor();
        const thread = mine.locator('#files tr.thread .thread-card', { hasText: 'Why that?' });
        await thread.waitFor();
        assert.equal(await draft.inputValue(), 'Half a sente');
        await mine.getByText('2 unresolved').waitFor();
        await thread.locator('summary', { hasText: 'Reply' }).click();
        await thread.getByRole('textbox', { name: 'Reply' }).fill('Not sent');
        const old = theirs.locator('.thread-card', { hasText: 'Why that?' });
        await old.locator('summary', { hasText: 'Reply' }).click();
        await old.getByRole('textbox', { name: 'Reply' }).fill('Never mind');
        await old.getByRole('button', { name: 'Reply', exact: true }).click();
        await thread.getByText('Never mind').waitFor();
        assert.equal(await thread.getByRole('textbox', { name: 'Reply' }).inputValue(), 'Not sent');
        await web.assertFine(mine);
      });
    });
  },
);

test('loads the whole file and both views in place, in dark and on a phone', { skip }, async () => {
  const path = await open('in-place');
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      await page.goto(path);
      await page.getByRole('link', { name: 'Whole file src/a.ts' }).click();
      await page.locator('#files').getByText('a1 =').first().waitFor();
      assert.equal(pathOf(page), path);
      await web.assertFine(page);
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(excess <= 0, `${excess} pixels too wide`);
      await page.goto(`${path}?view=split`);
      await web.assertFine(page);
    },
    { colorScheme: 'dark', viewport: { width: 375, height: 700 } },
  );
});

test('shows what came of a diff whose rendering failed in the middle, and says so', { skip }, async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const files = streamed(async function* () {
      yield html`<p>First file</p>`;
      await afterOtherWork();
      throw new Error('the repository is gone');
    });
    void pipeline(pageStream(html`<!doctype html><main>${files}</main>`), response).catch(() => undefined);
  }).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    await web.withPage(async (page) => {
      const { port } = server.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'commit' });
      await page.getByText('First file').waitFor();
      await page.getByRole('alert').getByText('The rest of this page could not be shown').waitFor();
    });
  } finally {
    server.close();
  }
});

test('buttons go from one unresolved thread to the next, in both tabs of a phone', { skip }, async () => {
  const path = await open('by-buttons');
  const threads = `/projects/${project.id}/merge_requests/${path.split('/').at(-2)}/discussions`;
  const [first] = (await web.gantry.api(`GET ${threads}`)).body;
  const position = { ...first.notes[0].position, new_line: 9 };
  await web.gantry.api(`POST ${threads}`, { json: { body: 'And this?', position } });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      for (const address of [path, path.replace('/diffs', '')]) {
        await page.goto(address);
        const step = async (name: string): Promise<string> => {
          await page.getByRole('button', { name: `${name} unresolved thread` }).click();
          return await page.evaluate<string>('document.activeElement.textContent');
        };
        assert.match(await step('Next'), /Is fresh good/);
        assert.match(await step('Next'), /And this/);
        assert.match(await step('Previous'), /Is fresh good/);
        await web.assertFine(page);
      }
    },
    { viewport: { width: 375, height: 700 } },
  );
});

test('ticks a task of a thread', { skip }, async () => {
  const path = await open('with-tasks');
  const threads = `/projects/${project.id}/merge_requests/${path.split('/').at(-2)}/discussions`;
  const readThread = async () => (await web.gantry.api(`GET ${threads}`)).body[0];
  const { id, notes } = await readThread();
  const [note] = notes;
  await web.gantry.api(`PUT ${threads}/${id}/notes/${note.id}`, {
    json: { body: '- [ ] rename\n- [ ] test' },
  });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    // A mark that a load of the page would remove.
    await page.evaluate('window.isSamePage = true');
    await page.getByRole('checkbox', { name: 'test', exact: true }).click();
    await page.locator(`#note_${note.id} [aria-checked=true]`).waitFor();
    assert.equal((await readThread()).notes[0].body, '- [ ] rename\n- [x] test');
    await page.getByRole('checkbox', { name: 'rename' }).click();
    await page.locator(`#note_${note.id} [aria-checked=true]`).nth(1).waitFor();
    assert.equal((await readThread()).notes[0].body, '- [x] rename\n- [x] test');
    assert.equal(await page.evaluate('window.isSamePage'), true);
  });
});

test('reacts to a comment of a thread, in the page and without scripts', { skip }, async () => {
  const path = await open('with-reactions');
  const request = `/projects/${project.id}/merge_requests/${path.split('/').at(-2)}`;
  const [{ notes }] = (await web.gantry.api(`GET ${request}/discussions`)).body;
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(path);
    // A mark that a load of the page would remove.
    await page.evaluate('window.isSamePage = true');
    const note = page.locator(`#note_${notes[0].id}`);
    await note.getByText('Add a reaction').locator('..').click();
    await web.assertFine(page);
    await note.getByRole('button', { name: 'React with rocket' }).click();
    await note.getByRole('button', { name: 'rocket: 1, including yours' }).waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
  });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(path);
      const note = page.locator(`#note_${notes[0].id}`);
      await note.getByText('Add a reaction').locator('..').click();
      await note.getByRole('link', { name: 'More emoji…' }).click();
      await page.getByLabel('Search by name').fill('crab');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByRole('button', { name: 'React with crab' }).click();
      await note.getByRole('button', { name: 'crab: 1, including yours' }).waitFor();
      assert.equal(pathOf(page), path);
    },
    { javaScriptEnabled: false, viewport: { width: 375, height: 812 } },
  );
});

test('comments and marks files without scripts', { skip }, async () => {
  const path = await open('without-scripts');
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.goto(path);
      await page.getByRole('link', { name: 'Comment on line 21, unchanged' }).click();
      await page.getByRole('textbox', { name: 'Comment on line 21' }).fill('Unchanged, but odd');
      await page.getByLabel('First line').fill('20');
      await page.getByRole('button', { name: 'Comment now' }).click();
      await page.getByText('lines 20 to 21').waitFor();
      await page.getByRole('button', { name: 'Viewed src/c.ts' }).click();
      await page.getByText('1 of 3 files viewed').waitFor();
    },
    { javaScriptEnabled: false },
  );
});

test('keys fold, copy, preview, quote, and go from commit to commit', { skip }, async () => {
  const path = await open('by-keys', { more: { 'src/d.ts': numbered(3, 'd') } });
  await web.withPage(
    async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      await page.goto(path);
      await press(page, ';');
      for (const file of ['a', 'b', 'c', 'd']) {
        await page.getByRole('checkbox', { name: `Fold src/${file}.ts`, checked: true }).waitFor();
      }
      await press(page, ';');
      await page.getByRole('checkbox', { name: 'Fold src/a.ts', checked: false }).waitFor();
      await press(page, 'b');
      await page.waitForFunction("navigator.clipboard.readText().then((text) => text === 'by-keys')");
      // A thread is quoted in the reply to it.
      await press(page, 'n');
      await page.evaluate("getSelection().selectAllChildren(document.querySelector('.thread-card .prose'))");
      await press(page, 'r');
      const reply = page.getByRole('textbox', { name: 'Reply', exact: true });
      assert.equal(await reply.inputValue(), '> Is fresh good?\n\n');
      await press(page, 'Escape');
      // A field switches to its preview and back.
      await page.getByRole('link', { name: 'Comment on line 18, unchanged' }).click();
      await page.keyboard.type('It is **bold**');
      await press(page, 'Control+Shift+P');
      await page.locator('.comment-form .preview strong', { hasText: 'bold' }).waitFor();
      await press(page, 'Control+Shift+P');
      await page.getByRole('textbox', { name: 'Comment on line 18' }).waitFor();
      // Commit by commit.
      await page.goto(path);
      await press(page, 'c');
      await page.getByText('Commit 1 of 2').waitFor();
      await page.getByText('All changes').waitFor();
      assert.equal(await page.locator('.diff-file').count(), 3);
      await press(page, 'c');
      await page.getByText('Commit 2 of 2').waitFor();
      await web.assertFine(page);
      await press(page, 'x');
      await page.getByText('Commit 1 of 2').waitFor();
    },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
});

test('chooses lines with Shift, cancels, filters files, and shows further lines', { skip }, async () => {
  const path = await open('by-mouse');
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await page.goto(path);
    await page.getByRole('link', { name: 'Comment on line 18, unchanged' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 18' }).waitFor();
    await page.getByRole('link', { name: 'Comment on line 20, added' }).click({ modifiers: ['Shift'] });
    await page.getByRole('textbox', { name: 'Comment on line 20' }).waitFor();
    assert.equal(await page.getByLabel('First line').inputValue(), '18');
    await page.getByRole('link', { name: 'Cancel' }).click();
    assert.equal(await page.locator('#new_comment').count(), 0);
    const folder = page.locator('.file-tree [data-folder="src/"]');
    await folder.locator('summary').click();
    await page.locator('.file-tree [data-path="src/b.ts"]').waitFor({ state: 'hidden' });
    await page.getByLabel('Filter files').fill('b.t');
    await page.locator('.file-tree [data-path="src/a.ts"]').waitFor({ state: 'hidden' });
    await page.locator('.file-tree [data-path="src/b.ts"]').waitFor();
    await page.getByLabel('Filter files').fill('');
    await page.locator('.file-tree [data-path="src/a.ts"]').waitFor();
    await folder.locator('summary').click();
    await page.getByRole('button', { name: 'Viewed src/c.ts' }).click();
    await page.getByText('1 of 3 files viewed').waitFor();
    assert.equal(await folder.getAttribute('open'), null, 'a closed folder stays closed');
    const card = page.locator('.diff-file[data-path="src/b.ts"]');
    await card.getByRole('link', { name: 'Previous file: src/a.ts' }).click();
    await page.waitForURL(/#diff-/);
    await page.getByRole('link', { name: 'Show 16 lines' }).click();
    await page.locator('#files').getByText('a1 =').first().waitFor();
    await page.getByRole('link', { name: 'Show 16 lines' }).waitFor({ state: 'detached' });
    assert.match(await focused(page), /src\/a\.ts/);
    assert.equal(pathOf(page), path);
    await web.assertFine(page);
    await page.getByText('Resolve all', { exact: true }).click();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Resolve all threads' }).click();
    await page.getByText('All threads were resolved.').waitFor();
    assert.equal(await page.getByText('unresolved').count(), 0);
  });
});

test('leads from the dashboard to a suggestion and the merge, by keyboard alone', { skip }, async () => {
  const path = await open('whole-way', { reviewer_ids: [userId] });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await press(page, 'M');
    await page.waitForURL('**/dashboard/merge_requests**');
    await press(page, 'j', 'o');
    await page.waitForURL(`**${path.replace('/diffs', '')}`);
    await pressUntil(page, 'Tab', /^Changes /);
    await press(page, 'Enter');
    await page.waitForURL(`**${path}`);
    await press(page, ']');
    await pressUntil(page, 'Tab', 'Comment on line 17, unchanged');
    await pressUntil(page, 'ArrowDown', 'Comment on line 20, added');
    await press(page, 'Enter');
    await page.keyboard.type('```suggestion\nconst a20 = 22;\n```');
    await press(page, 'Control+Enter');
    await page.getByLabel('1 pending').waitFor();
    await press(page, 'R');
    await pressUntil(page, 'Tab', 'Comment');
    await pressUntil(page, 'ArrowDown', 'Approve');
    await pressUntil(page, 'Tab', 'Submit review');
    await press(page, 'Enter');
    await page.waitForURL(`**${path.replace('/diffs', '')}`);
    await page.getByText('Approved by A User').waitFor();
    await page.getByText('const a20 = 22;').first().waitFor();
    await pressUntil(page, 'Tab', 'Merge');
    await press(page, 'Enter');
    await page.getByRole('heading', { name: 'Merged by A User' }).waitFor();
  });
});
