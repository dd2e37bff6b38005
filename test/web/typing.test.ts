/** What a browser does for texts that are being written: drafts that survive, and files that are pasted or dropped. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let list: string;
let project: { id: number };
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const seeded = await seedProject(web.gantry, { visibility: 'public' });
  project = seeded;
  list = `/${seeded.full_path}/issues`;
  username = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, { user: body[0].id, project: seeded.id, access_level: 40 });
  await seedCommit(web.gantry, seeded.id, { 'a.txt': 'Older\n' });
  const json = { title: 'One', description: 'First' };
  await web.gantry.api(`POST /projects/${seeded.id}/issues`, { json });
});
after(async () => {
  if (skip === false) await web.close();
});

const comment = (page: Page) => page.getByRole('textbox', { name: 'Add a comment' });
const restored = (page: Page) => page.getByText('Restored what you had not sent.');

/** Gives files, or text, to the comment as a paste or a drop does. */
const transfer = async (page: Page, kind: 'paste' | 'drop', types: readonly string[]) =>
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    for (const type of ${JSON.stringify(types)}) {
      if (type === 'text/plain') data.setData(type, 'text');
      else data.items.add(new File([Uint8Array.of(1, 2, 3)], 'a [1].' + type.split('/')[1], { type }));
    }
    const init = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
    const Event = ${kind === 'paste' ? 'ClipboardEvent' : 'DragEvent'};
    document.querySelector('#new_comment').dispatchEvent(new Event('${kind}', init));
  })()`);

/** Waits until the comment has a text. */
const untilComment = async (page: Page, pattern: RegExp): Promise<void> => {
  while (!pattern.test(await comment(page).inputValue())) await page.waitForTimeout(20);
};

test('an unsent text survives a reload, until it is sent or discarded', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/1`);
    await comment(page).fill('Half a thought');
    await page.reload();
    await restored(page).waitFor();
    assert.equal(await comment(page).inputValue(), 'Half a thought');
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.equal(await comment(page).inputValue(), '');
    await page.reload();
    assert.equal(await comment(page).inputValue(), '');
    await comment(page).fill('A whole thought');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.locator('.note', { hasText: 'A whole thought' }).first().waitFor();
    await page.reload();
    assert.equal(await comment(page).inputValue(), '');
    assert.equal(await restored(page).count(), 0);
  });
});

test(
  'a text whose session ended while it was written is there after the next sign-in',
  { skip },
  async () => {
    await web.withPage(async (page) => {
      await web.signIn(page, username);
      await page.goto(`${list}/new`);
      await page.getByLabel('Title').fill('A title');
      await page.getByLabel('Description', { exact: true }).fill('A long text');
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Create issue' }).click();
      await page.waitForURL('**/users/sign_in**');
      await web.signIn(page, username);
      await page.goto(`${list}/new`);
      assert.equal(await page.getByLabel('Title').inputValue(), 'A title');
      assert.equal(await page.getByLabel('Description', { exact: true }).inputValue(), 'A long text');
    });
  },
);

test('a text is for the user who typed it, and gone when they sign out', { skip }, async () => {
  const other = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/1`);
    await comment(page).fill('Mine');
    await page.context().clearCookies();
    await web.signIn(page, other);
    await page.goto(`${list}/1`);
    assert.equal(await comment(page).inputValue(), '');
    await comment(page).fill('Theirs');
    await page.evaluate(`document.querySelector('[action="/users/sign_out"]').requestSubmit()`);
    await page.waitForURL((url) => url.pathname !== `${list}/1`);
    assert.equal(await page.evaluate<number>('Object.keys(localStorage).length'), 0);
  });
});

test(
  'files, snippets and descriptions of milestones that are written survive a reload',
  { skip },
  async () => {
    await web.withPage(async (page) => {
      await web.signIn(page, username);
      await page.waitForURL('**/');
      const type = async (address: string, label: string, text: string): Promise<void> => {
        await page.goto(address);
        await page.getByLabel(label, { exact: true }).first().fill(text);
        await page.reload();
        await restored(page).first().waitFor();
        assert.equal(await page.getByLabel(label, { exact: true }).first().inputValue(), text);
      };
      const root = list.replace(/\/issues$/, '');
      await type(`${root}/-/edit/main/a.txt`, 'Content', 'Written for nothing?');
      await type('/-/snippets/new', 'Content', 'echo 1');
      await type(`${root}/-/milestones/new`, 'Description', 'What it is about');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('region', { name: 'Preview' }).getByText('What it is about').waitFor();
      await web.assertFine(page);
      // Of another version of the file, the text of the form is that version.
      await seedCommit(web.gantry, project.id, { 'a.txt': 'Newer\n' });
      await page.goto(`${root}/-/edit/main/a.txt`);
      assert.equal(await page.getByLabel('Content', { exact: true }).inputValue(), 'Newer\n');
      assert.equal(await restored(page).count(), 0);
    });
  },
);

test('a text is not restored over the edit of somebody else', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/1/edit`);
    const description = page.getByLabel('Description', { exact: true });
    await description.fill('Mine');
    await web.gantry.api(`PUT /projects/${project.id}/issues/1`, { json: { description: 'Theirs' } });
    await page.reload();
    assert.equal(await description.inputValue(), 'Theirs');
    assert.equal(await restored(page).count(), 0);
  });
});

test('files that are pasted, dropped or chosen are uploaded and linked', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/1`);
    await comment(page).fill('Look:');
    await transfer(page, 'paste', ['image/png']);
    await untilComment(page, /^Look:\n!\[[^\]]+\]\(\/uploads\/[0-9a-f]{32}\/[^)]+\.png\)\n$/);
    await transfer(page, 'drop', ['text/csv', 'image/gif']);
    await untilComment(
      page,
      /\n\[[^\]]+\]\(\/uploads\/[^)]+\.csv\)\n!\[[^\]]+\]\(\/uploads\/[^)]+\.gif\)\n$/,
    );
    await page.getByLabel('Attach files: Add a comment').setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('notes'),
    });
    await untilComment(page, /\[notes\.txt\]\(\/uploads\/[^)]+\)\n$/);
    await page.getByText('notes.txt is uploaded.').waitFor();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    const link = page.getByRole('link', { name: 'notes.txt' });
    const sent = await page.request.get((await link.getAttribute('href')) ?? '');
    assert.equal(await sent.text(), 'notes');
  });
});

test('a paste of text stays a paste, and a refused file leaves the text as it was', { skip }, async () => {
  await web.gantry.api('PUT /application/settings', { json: { max_attachment_size: 1 } });
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.goto(`${list}/1`);
    await comment(page).fill('Look:\n');
    await transfer(page, 'paste', ['text/plain', 'image/png']);
    const big = { name: 'big.bin', mimeType: 'application/zip', buffer: Buffer.alloc(1_100_000) };
    await page.getByLabel('Attach files: Add a comment').setInputFiles(big);
    await page.getByText(/^big\.bin could not be uploaded: /).waitFor();
    assert.equal(await comment(page).inputValue(), 'Look:\n');
  });
});
