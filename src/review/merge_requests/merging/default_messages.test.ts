/** Tests the templates of merge and squash commits, and whether a merge closes issues. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRepository } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedIssue, seedMember, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { fillTemplate } from './message_template.ts';

let gantry: TestService;
let project: Coded;
let master: SeededUser;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const change = async (json: object): Promise<void> => {
  const { status } = await gantry.api(`PUT /projects/${project.id}`, { json, as: master.token });
  assert.equal(status, 200);
};

const messageOf = async (id: string): Promise<string | undefined> => {
  const repository = await openRepository(gantry, project.id);
  return (await repository.ask('commits.get', { ids: [id] })).commits[0]?.message.trim();
};

const openNew = async (branch: string, attributes: Record<string, unknown> = {}): Promise<Request> => {
  await seedBranch(gantry, project, branch);
  return await openRequest(gantry, project, branch, attributes);
};

test('fills a template, and leaves out lines whose variables are all empty', () => {
  const values = new Map([
    ['title', 'A title'],
    ['issues', ''],
    ['url', 'http://x'],
  ]);
  assert.equal(
    fillTemplate('%{title}\r\n\r\n%{issues}\n\nSee %{url} %{other}', values),
    'A title\n\nSee http://x %{other}',
  );
  assert.equal(fillTemplate('%{title}\n\nNo %{issues}!', values), 'A title\n\nNo !');
  assert.equal(fillTemplate('%{issues}', values), '');
});

test('a merge takes the template of the project', async () => {
  const issue = await seedIssue(gantry, { project: project.id });
  const request = await openNew('templated', { title: 'Add', description: `Closes #${issue.iid}` });
  await gantry.api(`POST ${toPath(request)}/approve`);
  const names = ['title', 'issues', 'local_reference', 'target_branch', 'merged_by', 'approved_by', 'url'];
  await change({ merge_commit_template: names.map((name) => `%{${name}}`).join('\n') });
  const { body } = await merge(gantry, request, {}, master.token);
  const { body: root } = await gantry.api('GET /user');
  assert.equal(
    await messageOf(body.merge_commit_sha),
    [
      'Add',
      `Closes #${issue.iid}`,
      `!${request.iid}`,
      'main',
      `Name of ${master.username} <${master.username}@example.com>`,
      `Approved-by: ${root.name} <${root.email}>`,
      `${gantry.url}/${project.full_path}/merge_requests/${request.iid}`,
    ].join('\n'),
  );
  await change({ merge_commit_template: '' });
  const plain = await merge(gantry, await openNew('untemplated'), {}, master.token);
  assert.match(
    (await messageOf(plain.body.merge_commit_sha)) ?? '',
    /^Merge branch 'untemplated' into 'main'/,
  );
});

test('a squash takes the template of the project, with the commits', async () => {
  await change({
    squash_commit_template: '%{title} (%{local_reference})\n\n%{all_commits}\n\n%{co_authored_by}',
  });
  await seedBranch(gantry, project, 'squashed', { files: { 'a.txt': 'a\n' }, message: 'One' });
  await seedBranch(gantry, project, 'squashed', { files: { 'b.txt': 'b\n' }, message: 'Two' });
  const request = await openRequest(gantry, project, 'squashed', { squash: true });
  const { body } = await merge(gantry, request, {}, master.token);
  const message = (await messageOf(body.squash_commit_sha)) ?? '';
  assert.match(message, new RegExp(`^${request.title} \\(!${request.iid}\\)\n\n`));
  assert.match(message, /\* One\n\n\* Two/);
});

test('a merge closes no issue of a project that switched it off', async () => {
  const issue = await seedIssue(gantry, { project: project.id });
  const stateAfter = async (branch: string): Promise<string> => {
    await merge(gantry, await openNew(branch, { description: `Closes #${issue.iid}` }), {}, master.token);
    await settle(gantry);
    return (await gantry.api(`GET /projects/${project.id}/issues/${issue.iid}`)).body.state;
  };
  await change({ autoclose_referenced_issues: false });
  assert.equal(await stateAfter('leaves-open'), 'opened');
  await change({ autoclose_referenced_issues: true });
  assert.equal(await stateAfter('closes'), 'closed');
});
