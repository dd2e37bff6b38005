/** The forms of issues, reviews and notifications, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedPipeline } from '../../support/ci/jobs.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import {
  type SeededIssue,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedUser,
} from '../../support/seed.ts';
import {
  type Coded,
  openFromBranch,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
  waitForCheck,
} from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, password, seeNotice, skip } from '../web.ts';

let web: Web;
let user: SeededUser;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  user = await seedUser(web.gantry, { password });
});
after(async () => {
  if (skip === false) await web.close();
});

const ask = async (path: string) => await web.gantry.api(`GET ${path}`, { as: user.token });
const read = async (path: string) => (await ask(path)).body;

const seeAlert = async (page: Page, text: RegExp): Promise<void> =>
  await page.getByRole('alert').filter({ hasText: text }).first().waitFor();

const open = async (page: Page, summary: string): Promise<void> =>
  await page.locator('summary').filter({ hasText: summary }).first().click();

const press = async (page: Page, button: string): Promise<void> =>
  await page.getByRole('button', { name: button, exact: true }).click();

const makeIssue = async ({ id }: Coded, title = 'Rust'): Promise<SeededIssue> =>
  await seedIssue(web.gantry, { project: id, author: user.id, title });

const issueApi = ({ project_id, iid }: SeededIssue): string => `/projects/${project_id}/issues/${iid}`;

const move = async (page: Page, project: Coded): Promise<void> => {
  const target = await seedCoded(web.gantry, { owner: user.id });
  const issue = await makeIssue(project);
  await page.goto(`/${project.full_path}/issues/${issue.iid}`);
  await open(page, 'Move to another project');
  await page.getByRole('combobox', { name: 'Project' }).fill('no/such');
  await press(page, 'Move issue');
  await seeAlert(page, /does not exist/);
  await open(page, 'Move to another project');
  await page.getByRole('combobox', { name: 'Project' }).fill(target.full_path);
  await press(page, 'Move issue');
  await seeNotice(page, 'The issue was moved.');
  const [moved] = await read(`/projects/${target.id}/issues`);
  const { state, moved_to_id } = await read(issueApi(issue));
  assert.deepEqual([moved.title, state, moved_to_id], ['Rust', 'closed', moved.id]);
  await open(page, 'Delete this issue');
  await press(page, 'Delete issue');
  await seeAlert(page, /Confirm that the issue is to be deleted/);
  await open(page, 'Delete this issue');
  await page.getByLabel(/permanently, with all its comments$/).check();
  await press(page, 'Delete issue');
  await seeNotice(page, `Issue #${moved.iid} was deleted.`);
  assert.equal((await ask(`/projects/${target.id}/issues/${moved.iid}`)).status, 404);
};

const links = async (page: Page, project: Coded): Promise<void> => {
  const [issue, other] = [await makeIssue(project), await makeIssue(project, 'Paint')];
  await page.goto(`/${project.full_path}/issues/${issue.iid}`);
  await open(page, 'Edit linked issues');
  await page.getByLabel('Link an issue').fill('#99');
  await press(page, 'Add link');
  await seeAlert(page, /./);
  await open(page, 'Edit linked issues');
  await page.getByLabel('Link an issue').fill(`#${other.iid}`);
  await page.getByLabel('This issue', { exact: true }).selectOption({ label: 'blocks it' });
  await press(page, 'Add link');
  await page.getByRole('heading', { name: 'Blocks', exact: true }).waitFor();
  const [{ iid, link_type }] = await read(`${issueApi(issue)}/links`);
  assert.deepEqual([iid, link_type], [other.iid, 'blocks']);
  await open(page, 'Edit linked issues');
  await press(page, `Unlink #${other.iid}`);
  await page.getByRole('heading', { name: 'Blocks', exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(await read(`${issueApi(issue)}/links`), []);
};

const properties = async (page: Page, project: Coded): Promise<void> => {
  const issue = await makeIssue(project);
  const stats = async () => (await read(issueApi(issue))).time_stats;
  await page.goto(`/${project.full_path}/issues/${issue.iid}`);
  await open(page, 'Edit time');
  await page.getByLabel('Estimate').fill('soon');
  await press(page, 'Save');
  await seeAlert(page, /./);
  await open(page, 'Edit time');
  await page.getByLabel('Estimate').fill('2h');
  await page.getByLabel('Add time spent').fill('30m');
  await press(page, 'Save');
  await page.getByText('30m spent of 2h').waitFor();
  const { time_estimate, total_time_spent } = await stats();
  assert.deepEqual([time_estimate, total_time_spent], [7200, 1800]);
  for (const [button, opposite, name, value] of [
    ['Make confidential', 'Make visible to everyone', 'confidential', true],
    ['Make visible to everyone', 'Make confidential', 'confidential', false],
    ['Lock discussion', 'Unlock discussion', 'discussion_locked', true],
    ['Unlock discussion', 'Lock discussion', 'discussion_locked', false],
  ] as const) {
    await press(page, button);
    await page.getByRole('button', { name: opposite, exact: true }).waitFor();
    assert.equal(Boolean((await read(issueApi(issue)))[name]), value);
  }
};

const branch = async (page: Page, project: Coded): Promise<void> => {
  const issue = await makeIssue(project);
  await page.goto(`/${project.full_path}/issues/${issue.iid}`);
  await open(page, 'Create merge request');
  await page.getByLabel('New branch').fill('no..name');
  await press(page, 'Create branch');
  await seeAlert(page, /./);
  await page.getByLabel('New branch').fill('against-rust');
  await press(page, 'Create branch');
  await page.waitForURL(/\/tree\/against-rust$/);
  const { commit } = await read(`/projects/${project.id}/repository/branches/against-rust`);
  assert.equal(commit.id, project.first);
};

/** The API has no saved views: the list of another visit shows them. */
const views = async (page: Page, project: Coded): Promise<void> => {
  const list = `/${project.full_path}/issues`;
  await page.goto(`${list}?state=closed`);
  await open(page, 'Views');
  await page.getByLabel('Name of the view').fill('Done');
  await press(page, 'Save this view');
  await seeNotice(page, 'The view was saved.');
  await page.goto(list);
  await open(page, 'Views');
  await page.getByRole('link', { name: /^Done/ }).click();
  await page.waitForURL(/state=closed/);
  await open(page, 'Done');
  await page.getByLabel('Name of the view').fill('Finished');
  await press(page, 'Rename');
  await seeNotice(page, 'The view was renamed.');
  await open(page, 'Finished');
  await press(page, 'Delete the view Finished');
  await seeNotice(page, 'The view was deleted.');
  await page.locator('summary').filter({ hasText: 'Views' }).waitFor();
};

const notifications = async (page: Page): Promise<void> => {
  const group = await seedGroup(web.gantry, { owner: user.id });
  await page.goto('/profile/notifications');
  await page.getByRole('radio', { name: 'On mention' }).check();
  await press(page, 'Save changes');
  await seeNotice(page, 'Your notification level was saved.');
  assert.equal((await read('/notification_settings')).level, 'mention');
  await page.getByRole('link', { name: 'Groups', exact: true }).last().click();
  const row = page.getByRole('listitem').filter({ hasText: group.full_path });
  await row.getByLabel('Level', { exact: true }).selectOption({ label: 'Disabled' });
  await row.getByRole('button', { name: `Save the level of ${group.full_path}` }).click();
  await seeNotice(page, `The level of ${group.full_path} was saved.`);
  assert.equal((await read(`/groups/${group.id}/notification_settings`)).level, 'disabled');
};

const todos = async (page: Page, project: Coded): Promise<void> => {
  const issue = await makeIssue(project, `Rust in ${project.path}`);
  const added = await web.gantry.api(`POST ${issueApi(issue)}/todo`, { as: user.token });
  const state = async (): Promise<string> => {
    const all = [...(await read('/todos')), ...(await read('/todos?state=done'))];
    return all.find(({ id }: { id: number }) => id === added.body.id).state;
  };
  await page.goto('/dashboard/todos');
  await press(page, `Done: Rust in ${project.path}`);
  await seeNotice(page, 'The to-do item was marked as done.');
  assert.equal(await state(), 'done');
  await page.getByRole('link', { name: /^Done/ }).click();
  await press(page, `Undo: Rust in ${project.path}`);
  await seeNotice(page, 'The to-do item is pending again.');
  assert.equal(await state(), 'pending');
};

/** Reviews a change, then compares later pushes with a version, and with the version that was reviewed. */
const versions = async (page: Page, project: Coded): Promise<void> => {
  const files = { 'README.md': '  Read me\n', 'first.txt': 'one\n' };
  await seedBranch(web.gantry, project, 'topic', { files });
  const request = await openRequest(web.gantry, project, 'topic');
  await settle(web.gantry);
  const path = `/${project.full_path}/merge_requests/${request.iid}`;
  const seesFiles = async (...names: string[]): Promise<void> => {
    for (const name of ['README.md', 'first.txt', 'second.txt']) {
      const card = page.locator('main').getByRole('link', { name, exact: true }).first();
      await card.waitFor({ state: names.includes(name) ? 'attached' : 'detached' });
    }
  };
  await page.goto(`${path}/diffs`);
  await seesFiles('README.md', 'first.txt');
  await press(page, 'Hide whitespace');
  await page.getByRole('button', { name: 'Show whitespace' }).waitFor();
  await seesFiles('first.txt');
  await press(page, 'Show whitespace');
  await page.getByRole('button', { name: 'Hide whitespace' }).waitFor();
  await open(page, 'Finish review');
  await page.getByRole('textbox', { name: 'Summary' }).fill('Mind the indent');
  await page.getByRole('radio', { name: 'Request changes' }).check();
  await press(page, 'Submit review');
  await seeNotice(page, 'You requested changes.');
  const notes = await read(`${toPath(request)}/notes`);
  assert.ok(notes.some(({ body }: { body: string }) => body === 'Mind the indent'));
  await seedCommit(web.gantry, project.id, { 'second.txt': 'two\n' }, { branch: 'topic' });
  await settle(web.gantry);
  await page.goto(`${path}/diffs`);
  await seesFiles('README.md', 'first.txt', 'second.txt');
  await page.getByRole('link', { name: 'Since my last review' }).click();
  await seesFiles('second.txt');
  await page.goto(`${path}/versions`);
  await page.getByRole('link', { name: 'Compare version 2 with version 1' }).click();
  await seesFiles('second.txt');
  assert.equal((await read(`${toPath(request)}/versions`)).length, 2);
};

const reviewAgain = async (page: Page, project: Coded): Promise<void> => {
  const reviewer = await seedUser(web.gantry);
  await seedMember(web.gantry, { user: reviewer.id, project: project.id, access_level: 30 });
  const request = await openFromBranch(web.gantry, project, 'topic', { reviewer_ids: [reviewer.id] });
  await settle(web.gantry);
  const approved = await web.gantry.api(`POST ${toPath(request)}/approve`, { as: reviewer.token });
  assert.equal(approved.status, 201, approved.text);
  const state = async (): Promise<string> => (await read(`${toPath(request)}/reviewers`))[0].state;
  assert.equal(await state(), 'approved');
  await page.goto(`/${project.full_path}/merge_requests/${request.iid}`);
  const again = page.getByRole('button', { name: /^Request .*review .*again|^Request review again/ });
  await again.click();
  await again.waitFor({ state: 'detached' });
  assert.equal(await state(), 'unreviewed');
};

const automaticMerge = async (page: Page, project: Coded): Promise<void> => {
  const request = await openFromBranch(web.gantry, project, 'topic');
  await settle(web.gantry);
  await waitForCheck(web.gantry, request);
  const { sha } = await readRequest(web.gantry, request);
  await seedPipeline(web.gantry, { project: project.id, file: 'job: { script: x }', ref: 'topic', sha });
  const isWaiting = async () => (await read(toPath(request))).merge_when_pipeline_succeeds;
  await page.goto(`/${project.full_path}/merge_requests/${request.iid}`);
  await press(page, 'Merge when all checks pass');
  const cancel = page.getByRole('button', { name: 'Cancel auto-merge' });
  await cancel.waitFor();
  assert.equal(await isWaiting(), true);
  await cancel.click();
  await cancel.waitFor({ state: 'detached' });
  assert.equal(await isWaiting(), false);
};

const flows: Record<string, (page: Page, project: Coded) => Promise<void>> = {
  'an issue is moved and deleted': move,
  'an issue is linked and unlinked': links,
  'time, confidentiality and the lock of an issue change': properties,
  'a branch is created for an issue': branch,
  'a view of a list is saved, renamed and deleted': views,
  'notification levels change': notifications,
  'a to-do item is done and pending again': todos,
  'a merge request is compared with what was reviewed': versions,
  'a review is requested again': reviewAgain,
  'an automatic merge is set and canceled': automaticMerge,
};

for (const javaScriptEnabled of [true, false]) {
  for (const [name, flow] of Object.entries(flows)) {
    test(`${name} ${javaScriptEnabled ? 'with' : 'without'} scripts`, { skip }, async () => {
      const project = await seedCoded(web.gantry, { owner: user.id, visibility: 'internal' });
      await web.withPage(
        async (page) => {
          await web.signIn(page, user.username);
          await page.waitForURL('/');
          await flow(page, project);
        },
        { javaScriptEnabled },
      );
    });
  }
}
