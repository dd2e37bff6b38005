/** Walks through pages as a screen reader does: landmarks, headings, names of controls, words of states. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedTrace } from '../support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../support/ci/jobs.ts';
import { seedMember } from '../support/seed.ts';
import { type Coded, openRequest, seedBranch, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { listAnnouncements, readPage, readingFaults, toLine } from './reading_order.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let login: string;
let project: Coded;
let base: string;
let api: string;

const post = async (path: string, json: object) => {
  const { status, text, body } = await web.gantry.api(`POST ${path}`, { json });
  assert.equal(status, 201, text);
  return body;
};

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ name: 'Ada' });
  project = await seedCoded(web.gantry, { visibility: 'public' });
  const [{ id }] = (await web.gantry.api(`GET /users?username=${login}`)).body;
  await seedMember(web.gantry, { user: id, project: project.id, access_level: 40 });
  base = `/${project.full_path}`;
  api = `/projects/${project.id}`;
});
after(async () => {
  if (skip === false) await web.close();
});

/** Opens a page, reads it, and checks that it has these lines, in this order, among others. */
const listen = async (
  page: Page,
  path: string,
  expected: readonly (string | RegExp)[],
): Promise<string[]> => {
  await page.goto(path);
  const spoken = await readPage(page);
  const lines = spoken.map(toLine);
  assert.deepEqual(readingFaults(spoken), [], path);
  let from = 0;
  const missing: string[] = [];
  for (const one of expected) {
    const at = lines.findIndex(
      (line, index) => index >= from && (typeof one === 'string' ? line === one : one.test(line)),
    );
    if (at === -1) missing.push(`${String(one)} after ${lines[from - 1] ?? 'the beginning'}`);
    else from = at + 1;
  }
  assert.equal(
    missing.join('\n'),
    '',
    `${path}: not read: ${missing.join('\n')}\namong\n${lines.join('\n')}`,
  );
  return lines;
};

const asAda = async (work: (page: Page) => Promise<void>): Promise<void> =>
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.waitForURL('/');
    await work(page);
  });

test('reads an issue: state, description, tasks and a heading of each comment', { skip }, async () => {
  await post(`${api}/issues`, { title: 'Rust on the rail', description: '- [ ] sand\n- [x] paint' });
  await post(`${api}/issues/1/notes`, { body: 'Which one?' });
  await asAda(async (page) => {
    await listen(page, `${base}/issues/1`, [
      'link: Skip to the content',
      'banner: ',
      'navigation: Main',
      'navigation: Project',
      'main: ',
      /^heading 1: .*Rust on the rail/,
      /: Open$/,
      /^heading 2: .* wrote the description/,
      'checkbox: sand',
      'checkbox (checked): paint',
      'heading 2: Activity',
      /^heading 3: .* commented/,
      'StaticText: Which one?',
      'textbox: Add a comment',
      'contentinfo: ',
    ]);
  });
});

test('reads a merge request: checks with their state, and changed lines with theirs', { skip }, async () => {
  await seedBranch(web.gantry, project, 'topic', { files: { 'README.md': 'Read me twice\n' } });
  const { iid } = await openRequest(web.gantry, project, 'topic', { title: 'Read twice' });
  const request = `${api}/merge_requests/${iid}`;
  const [version] = (await web.gantry.api(`GET ${request}/versions`)).body;
  const position = {
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
    position_type: 'text',
    new_path: 'README.md',
    new_line: 1,
  };
  await post(`${request}/discussions`, { body: 'Twice?', position });
  await settle(web.gantry);
  await asAda(async (page) => {
    await listen(page, `${base}/merge_requests/${iid}`, [
      /^heading 1: .*Read twice/,
      'navigation: Merge request',
      /^heading 2: /,
      /^(?:img|image): (?:Done|Pending|For information|Blocks the merge)$/,
      /^heading 3: .* commented/,
    ]);
    await listen(page, `${base}/merge_requests/${iid}/diffs`, [
      'navigation: Changed files',
      /^heading 2: README\.md/,
      'columnheader: Old line',
      'columnheader: New line',
      'columnheader: Change',
      'columnheader: Content',
      'link: Comment on line 1, removed',
      'cell: removed',
      'link: Comment on line 1, added',
      'cell: added',
      /^region: Open thread of /,
      'StaticText: Open thread',
      /^heading 3: .* commented/,
    ]);
    await listen(page, `${base}/-/commit/topic`, [
      'link: Comment on line 1, removed',
      'link: Comment on line 1, added',
    ]);
  });
});

test('reads a pipeline and the log of a failed job', { skip }, async () => {
  const { id, jobs } = await seedPipeline(web.gantry, {
    project: project.id,
    file: 'stages: [build]\nmake: { stage: build, script: x }\nship: { stage: build, script: x, when: manual }',
    sha: project.first,
  });
  const job = jobs['make'] ?? 0;
  const log =
    'section_start:10:own\r\x1b[0KCompile\n\x1b[31mno such file\x1b[0m\nsection_end:75:own\r\x1b[0K\n';
  await seedTrace(web.gantry, { id: job, project_id: project.id }, log);
  await setJob(web.gantry, job, {
    status: 'failed',
    failure_reason: 'script_failure',
    exit_code: 2,
    started_at: 1_000,
    finished_at: 5_000,
  });
  await asAda(async (page) => {
    await listen(page, `${base}/-/pipelines/${id}`, [
      /^heading 1: Pipeline #\d+/,
      'region: Graph of the stages',
      /^link: Failed make/,
      /^link: Manual ship/,
      /^heading 2: .*make failed script failure, exit code 2/,
      'heading 2: build',
      'columnheader: Job',
      'columnheader: Status',
      'rowheader: make',
      'StaticText: Failed',
      'button: Retry make',
      'button: Start ship',
    ]);
    await listen(page, `${base}/-/jobs/${job}`, [
      /^heading 1: Job #\d+: make/,
      'button: Retry make',
      'StaticText: Failed',
      'alert: ',
      'StaticText: The job failed: script failure, exit code 2.',
      'heading 2: Log',
      'textbox: Search in the log',
      'link: Complete log as text',
      /^DisclosureTriangle\w*: .*1 Compile 1:05/,
      'link: Line 2',
      'StaticText: no such file',
    ]);
  });
});

test('reads a board and moves a card, which is told', { skip }, async () => {
  const { iid } = await post(`${api}/issues`, { title: 'Loose bolt' });
  const board = await post(`${api}/boards`, { name: 'Work' });
  await asAda(async (page) => {
    await listen(page, `${base}/-/boards/${board.id}`, [
      'heading 1: Board Work',
      'region: Columns of the board',
      'region: Open',
      /^heading 2: Open/,
      'link: Loose bolt',
      new RegExp(`^DisclosureTriangle\\w*: Actions on #${iid}`),
      'region: Closed',
      /^heading 2: Closed/,
    ]);
    const card = page.getByRole('listitem').filter({ hasText: 'Loose bolt' });
    await card.locator('summary').click();
    await card.getByRole('button', { name: 'Closed' }).click();
    await page.locator('[data-board-status]:not(:empty)').waitFor();
    assert.match(listAnnouncements(await readPage(page)).join(' '), /Closed/);
  });
});

test('reads the start page, and nothing by itself but what became of an own action', { skip }, async () => {
  await asAda(async (page) => {
    await listen(page, '/', ['heading 1: Your work', /^link: New project/]);
    assert.deepEqual(listAnnouncements(await readPage(page)), []);
    await page.goto('/profile/preferences');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('status').waitFor();
    assert.deepEqual(listAnnouncements(await readPage(page)), ['Your preferences were saved.']);
  });
});
