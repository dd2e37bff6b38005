/** The merge box in a browser: live, waiting for checks, with stacks, suggestions, rebases, reverts and cherry-picks. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedMember } from '../support/seed.ts';
import {
  type Coded,
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../support/seed_merge_requests.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
let project: Coded;
let list: string;
let username: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  const { gantry } = web;
  project = await seedCoded(gantry, { visibility: 'public' });
  list = `/${project.full_path}/merge_requests`;
  username = await web.makeUser();
  const { body } = await gantry.api(`GET /users?username=${username}`);
  await seedMember(gantry, { user: body[0].id, project: project.id, access_level: 40 });
});
after(async () => {
  if (skip === false) await web.close();
});

const send = async (line: string, json: object = {}): Promise<Request> => {
  const { status, body, text } = await web.gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

const open = async (branch: string, attributes: Parameters<typeof openRequest>[3] = {}): Promise<Request> => {
  const { target_branch = 'main' } = attributes;
  await seedBranch(web.gantry, project, branch, { from: target_branch });
  const request = await openRequest(web.gantry, project, branch, attributes);
  await settle(web.gantry);
  return request;
};

const asMember = async (work: (page: Page) => Promise<void>): Promise<void> =>
  await web.withPage(async (page) => {
    await web.signIn(page, username);
    await page.waitForURL('**/');
    await work(page);
  });

test('shows what others do without a reload, and keeps an edited message', { skip }, async () => {
  const request = await open('live');
  const path = toPath(request);
  await asMember(async (page) => {
    await page.goto(`${list}/${request.iid}`);
    await page.getByRole('heading', { name: 'Ready to merge' }).waitFor();
    await send(`POST ${path}/approve`);
    await page.getByText('Approved by').first().waitFor();
    const { id } = await send(`POST ${path}/discussions`, { body: 'Why?' });
    await page.getByText('1 thread is open').waitFor();
    await send(`PUT ${path}/discussions/${id}`, { resolved: true });
    await page.getByText('No open threads').waitFor();
    await send(`PUT ${path}`, { title: 'Draft: Of live' });
    await page.getByText('This is a draft').waitFor();
    const { height = 0 } = (await page.locator('#request_state .state.draft').boundingBox()) ?? {};
    assert.ok(height > 0 && height < 32, `the mark of a draft is ${height} pixels high`);
    assert.ok(await page.getByRole('button', { name: 'Merge', exact: true }).isDisabled());
    await send(`PUT ${path}`, { title: 'Of live' });
    await page.getByRole('heading', { name: 'Ready to merge', exact: true }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Merge', exact: true }).isEnabled());
    await web.assertFine(page);
    await send(`PUT ${path}/merge`);
    await page.getByRole('heading', { name: 'Merged by' }).waitFor();
  });
});

test('requests changes, waits for them, and merges by itself', { skip }, async () => {
  const request = await open('waiting');
  await send(`POST ${toPath(request)}/discussions`, { body: 'Why?' });
  await asMember(async (page) => {
    await page.goto(`${list}/${request.iid}/diffs`);
    await page.getByText('Finish review').click();
    await page.getByRole('textbox', { name: 'Summary' }).fill('Not like this');
    await page.getByLabel('Request changes').check();
    await page.getByRole('button', { name: 'Submit review' }).click();
    await page.getByText('A User requested changes').first().waitFor();
    await page.getByRole('button', { name: 'Merge when all checks pass' }).click();
    await page.getByRole('heading', { name: 'Merges when all checks pass' }).waitFor();
    await web.assertFine(page);
    await page.getByText('Resolve all', { exact: true }).click();
    await page.getByRole('button', { name: 'Resolve all threads' }).click();
    await page.getByText('No open threads').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await settle(web.gantry);
    await page.getByRole('heading', { name: 'Merged by A User' }).waitFor();
  });
});

test('merges a stack, then reverts and cherry-picks', { skip }, async () => {
  const lower = await open('lower');
  const upper = await open('upper', { target_branch: 'lower' });
  await asMember(async (page) => {
    await page.goto(`${list}/${upper.iid}`);
    await page.getByRole('button', { name: `Merge !${lower.iid} and this one into main` }).click();
    await page.getByRole('heading', { name: 'Merged by A User' }).waitFor();
    await page.locator('summary', { hasText: 'Revert' }).click();
    await page.getByRole('button', { name: 'Revert', exact: true }).click();
    await page.waitForURL('**/merge_requests/new?**');
    await page.getByText('The change was reverted.').waitFor();
    await web.gantry.api(`POST /projects/${project.id}/repository/branches`, {
      json: { branch: 'stable', ref: project.first },
    });
    await page.goto(`${list}/${upper.iid}`);
    await page.locator('summary', { hasText: 'Cherry-pick' }).click();
    await page.locator('#cherry_pick_branch').fill('stable');
    await page.locator('#cherry_pick_request').uncheck();
    await page.getByRole('button', { name: 'Cherry-pick', exact: true }).click();
    await page.getByText('The change was cherry-picked.').waitFor();
  });
});

test('rebases a branch that is behind', { skip }, async () => {
  const request = await open('behind');
  await seedCommit(web.gantry, project.id, { 'ahead.txt': '1' });
  await settle(web.gantry);
  await asMember(async (page) => {
    await page.goto(`${list}/${request.iid}`);
    await page.getByText('1 commit behind').waitFor();
    await page.getByRole('button', { name: 'Rebase' }).click();
    await settle(web.gantry);
    await page.getByText('1 commit behind').waitFor({ state: 'detached' });
    await page.getByText('No conflicts with').waitFor();
  });
});

test('applies several suggestions as one commit', { skip }, async () => {
  const request = await open('suggested');
  const path = toPath(request);
  const { body: versions } = await web.gantry.api(`GET ${path}/versions`);
  const [version] = versions;
  const position = {
    base_sha: version.base_commit_sha,
    start_sha: version.start_commit_sha,
    head_sha: version.head_commit_sha,
    position_type: 'text',
    new_path: 'suggested.txt',
    new_line: 1,
  };
  for (const text of ['one', 'two']) {
    const body = `\`\`\`suggestion\n${text}\n\`\`\``;
    await send(`POST ${path}/discussions`, { body, position });
  }
  await asMember(async (page) => {
    await page.goto(`${list}/${request.iid}/diffs`);
    await page.getByLabel('Select', { exact: true }).first().check();
    await page.getByText('Apply several of 2 suggestions as one commit').click();
    await page.getByRole('textbox', { name: 'Commit message' }).fill('As suggested');
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Apply selected suggestions' }).click();
    await page.getByText('Applied', { exact: true }).first().waitFor({ state: 'attached' });
  });
  const { body } = await web.gantry.api(`GET /projects/${project.id}/repository/commits/suggested`);
  assert.equal(body.message.trim(), 'As suggested');
});
