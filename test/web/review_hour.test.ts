/** The way of a reviewer from the dashboard to the merge, by keyboard alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { press, pressUntil } from './press_keys.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let project: Coded;
let username: string;
let path: string;

const branch = 'whole-hour';

const numbered = (count: number, word: string): string =>
  Array.from({ length: count }, (_line, at) => `const ${word}${at + 1} = ${at + 1};\n`).join('');

const changed = numbered(40, 'a').replace('a20 = 20', 'a20 = 21');

/** Opens a merge request of two files for the reviewer, with a thread and a suggestion. */
const open = async (reviewer: number): Promise<string> => {
  const { gantry } = web;
  await seedCommit(gantry, project.id, { 'src/a.ts': numbered(40, 'a') });
  await seedBranch(gantry, project, branch, {
    files: { 'src/a.ts': changed, 'src/b.ts': numbered(12, 'fresh') },
  });
  const { iid } = await openRequest(gantry, project, branch, { reviewer_ids: [reviewer] });
  const api = `/projects/${project.id}/merge_requests/${iid}`;
  const [version] = (await gantry.api(`GET ${api}/versions`)).body;
  const at = {
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
    position_type: 'text',
  };
  const suggestion = '```suggestion\nconst fresh3 = 33;\n```';
  for (const [body, position] of [
    ['Is it good?', { ...at, new_path: 'src/a.ts', old_path: 'src/a.ts', new_line: 20 }],
    [suggestion, { ...at, new_path: 'src/b.ts', new_line: 3 }],
  ] as const) {
    const made = await gantry.api(`POST ${api}/discussions`, { json: { body, position } });
    assert.equal(made.status, 201, made.text);
  }
  return `/${project.full_path}/merge_requests/${iid}`;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  project = await seedCoded(web.gantry, { visibility: 'public' });
  username = await web.makeUser();
  const { body } = await web.gantry.api(`GET /users?username=${username}`);
  await seedMember(web.gantry, { user: body[0].id, project: project.id, access_level: 40 });
  path = await open(body[0].id);
});
after(async () => {
  if (skip === false) await web.close();
});

/** Comments on a line. @param button that sends the comment */
const commentOn = async (page: Page, line: string, text: string, button: string): Promise<void> => {
  await pressUntil(page, 'Tab', /^Comment on line /);
  await pressUntil(page, 'ArrowDown', line);
  await press(page, 'Enter');
  await page.getByRole('textbox', { name: /^Comment on line/ }).waitFor();
  await page.keyboard.type(text);
  await pressUntil(page, 'Tab', button);
  await press(page, 'Enter');
  await page.locator('.thread-card').getByText(text).first().waitFor();
};

/** Finishes the review from the page that is open. */
const finish = async (page: Page, verdict: string): Promise<void> => {
  await press(page, 'R');
  await pressUntil(page, 'Tab', 'Comment');
  await pressUntil(page, 'ArrowDown', verdict);
  await pressUntil(page, 'Tab', 'Submit review');
  await press(page, 'Enter');
};

const openTab = async (page: Page, name: RegExp, address: string): Promise<void> => {
  await pressUntil(page, 'Tab', name);
  await press(page, 'Enter');
  await page.waitForURL(`**${path}${address}`);
};

test('leads from the review request to the merge, by keyboard alone', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await press(page, 'M');
    await page.waitForURL('**/dashboard/merge_requests**');
    await press(page, 'j', 'o');
    await page.waitForURL(`**${path}`);
    await openTab(page, /^Changes /, '/diffs');

    // A suggestion is applied, which is a push.
    await press(page, 'n', 'n');
    await pressUntil(page, 'Tab', 'Apply suggestion');
    await press(page, 'Enter');
    await page.getByText('The suggestion is applied to the source branch.').waitFor();
    await settle(web.gantry);
    await page.reload();
    await page.getByText('Version 2, latest').first().waitFor();

    // The first file: a comment, a pending comment; then it is viewed, and the next one follows.
    await press(page, ']');
    await commentOn(page, 'Comment on line 19, unchanged', 'Said at once', 'Comment now');
    await press(page, '[', '[');
    await commentOn(page, 'Comment on line 21, unchanged', 'Said at the end', 'Start a review');
    await page.getByLabel('1 pending').waitFor();
    await press(page, 'v');
    await page.getByText('1 of 2 files viewed').waitFor();

    await finish(page, 'Request changes');
    await page.waitForURL(`**${path}`);
    await page.getByText('You requested changes.').waitFor();
    await page.getByText('Said at the end').first().waitFor();

    // The author pushes; the reviewer sees what changed since, and all versions.
    const files = { 'src/a.ts': changed.replace('a20 = 21', 'a20 = 22') };
    await seedCommit(web.gantry, project.id, files, { branch });
    await settle(web.gantry);
    await page.reload();
    await pressUntil(page, 'Tab', 'changes since my last review');
    await press(page, 'Enter');
    await page.waitForURL('**/diffs?start_sha=*');
    await page.locator('#files').getByText('const a20 = 22;').first().waitFor();
    await openTab(page, /^Versions /, '/versions');
    await openTab(page, /^Overview /, '');

    // A thread is resolved and the request approved, both on the overview; then it is merged.
    await press(page, 'n');
    await pressUntil(page, 'Tab', 'Resolve thread');
    await press(page, 'Enter');
    await page
      .getByText(/Resolved by /)
      .first()
      .waitFor();
    await finish(page, 'Approve');
    await page.getByText('Approved by A User').waitFor();
    await web.assertFine(page);
    await pressUntil(page, 'Tab', 'Merge');
    await press(page, 'Enter');
    await page.getByRole('heading', { name: 'Merged by A User' }).waitFor();
  });
});
