/** Tests the creation of branches and merge requests from the page of an issue, and the list of related ones. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedIssue, seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: SeededVisitor;
let reporter: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  await seedCommit(gantry, project.id, { a: '1' });
});
after(async () => await gantry.close());

const newIssue = async (title: string, place = project): Promise<{ iid: number; path: string }> => {
  const { iid } = await seedIssue(gantry, { project: place.id, title });
  return { iid, path: `/${place.full_path}/issues/${iid}` };
};

test('creates a draft merge request that closes the issue', async () => {
  const { iid, path } = await newIssue('Crème & "brûlée", twice -- really?');
  await gantry.api(`PUT /projects/${project.id}/issues/${iid}`, { json: { labels: 'food' } });
  const { visitor } = developer;
  const { text } = await visitor.get(path);
  assert.match(text, new RegExp(`value="${iid}-creme-brulee-twice-really"`));
  assert.match(text, /name="ref"[^>]+value="main"/);
  const branch = `${iid}-creme`;
  const made = await visitor.post(`${path}/branch`, { branch, ref: 'main', draft: '1' });
  assert.match(made.location ?? '', /\/merge_requests\/\d+$/);
  const number = made.location?.split('/').at(-1);
  const { body } = await gantry.api(`GET /projects/${project.id}/merge_requests/${number}`);
  assert.deepEqual(
    [body.title, body.description, body.source_branch, body.target_branch, body.labels, body.assignee.id],
    [
      'Draft: Resolve "Crème & "brûlée", twice -- really?"',
      `Closes #${iid}`,
      branch,
      'main',
      ['food'],
      developer.id,
    ],
  );
  const shown = await visitor.get(path);
  assert.match(shown.text, /Closed by<\/h2>[\s\S]+Draft: Resolve/);
  assert.doesNotMatch(shown.text, /Related merge requests/);
});

test('creates only a branch, and shows problems with the input kept', async () => {
  const { iid, path } = await newIssue('日本');
  const { visitor } = developer;
  assert.match((await visitor.get(path)).text, new RegExp(`name="branch"[^>]+value="${iid}"`));
  const form = { branch: `${iid}-x`, ref: 'main', intent: 'branch' };
  assert.match((await visitor.post(`${path}/branch`, form)).location ?? '', new RegExp(`/tree/${iid}-x$`));
  const twice = await visitor.post(`${path}/branch`, { ...form, intent: 'merge_request' });
  assert.deepEqual([twice.status, /Branch already exists/.test(twice.text)], [422, true]);
  assert.match(twice.text, new RegExp(`name="branch"[^>]+value="${iid}-x"`));
  const lost = await visitor.post(`${path}/branch`, { ...form, branch: `${iid}-y`, ref: 'no' });
  assert.deepEqual([lost.status, /Invalid reference name: no/.test(lost.text)], [422, true]);
  assert.equal((await gantry.api(`GET /projects/${project.id}/merge_requests?search=日本`)).body.length, 0);
});

test('offers and allows it only to users who may push', async () => {
  const { path } = await newIssue('Mine');
  const { visitor } = reporter;
  assert.doesNotMatch((await visitor.get(path)).text, /branch-form/);
  for (const intent of ['branch', 'merge_request']) {
    const refused = await visitor.post(`${path}/branch`, { branch: 'mine', ref: 'main', intent });
    assert.notEqual(refused.status, 303);
  }
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/branches`);
  assert.ok(!body.some(({ name }: { name: string }) => name === 'mine'));
});

test('keeps confidential titles out of branches, and of projects that others read', async () => {
  const { iid, path } = await newIssue('Secret leak');
  await gantry.api(`PUT /projects/${project.id}/issues/${iid}`, { json: { confidential: true } });
  const { visitor } = developer;
  assert.doesNotMatch((await visitor.get(path)).text, /branch-form/);
  await visitor.post(`${path}/branch`, { branch: 'leak', ref: 'main' });
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/branches`);
  assert.ok(!body.some(({ name }: { name: string }) => name === 'leak'));
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const member = await seedVisitor(gantry, { project: hidden.id, access_level: 30 });
  await seedCommit(gantry, hidden.id, { a: '1' });
  const own = await newIssue('Secret leak', hidden);
  await gantry.api(`PUT /projects/${hidden.id}/issues/${own.iid}`, { json: { confidential: true } });
  assert.match((await member.visitor.get(own.path)).text, new RegExp(`"${own.iid}-confidential-issue"`));
});

test('lists merge requests that mention the issue, as far as the viewer sees them', async () => {
  const { iid, path } = await newIssue('Mentioned');
  const json = { branch: 'topic', ref: 'main' };
  await gantry.api(`POST /projects/${project.id}/repository/branches`, { json });
  await seedCommit(gantry, project.id, { b: '1' }, { branch: 'topic' });
  const request = {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'Work',
    description: `See #${iid}`,
  };
  await gantry.api(`POST /projects/${project.id}/merge_requests`, { json: request });
  const { text } = await reporter.visitor.get(path);
  assert.match(text, /Related merge requests<\/h2>[\s\S]+![\d]+ Work<\/a> <span class="muted">open/);
  assert.doesNotMatch(text, /Closed by/);
});
