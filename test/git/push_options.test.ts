/** `git push -o merge_request.create` and the like. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { startHookReceiver } from '../support/servers/hook_receiver.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
} from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
let project: SeededProject;
let user: SeededUser;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n', '.gitlab-ci.yml': 'test:\n  script: [test]\n' });
  project = await seedProject(gantry);
  user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, project.full_path, rootToken), 'main');
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, project.full_path, user.token), 'main:stable');
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

let pushes = 0;

/** Pushes a new commit each time: git runs no hooks without changes. */
const push = async (branch: string, ...options: string[]) => {
  pushes += 1;
  const commit = await tree.git(
    'commit-tree',
    '-p',
    'main',
    '-m',
    `To ${branch}\n\nPush ${pushes}`,
    'main^{tree}',
  );
  const url = repositoryUrl(gantry.url, project.full_path, user.token);
  const all = options.flatMap((option) => [
    '-o',
    option.startsWith('ci.') ? option : `merge_request.${option}`,
  ]);
  const pushed = await tryGit(tree.path, ['push', '--force', ...all, url, `${commit}:refs/heads/${branch}`]);
  assert.equal(pushed.code, 0, pushed.stderr);
  return pushed.stderr;
};

const requestsOf = async (branch: string) =>
  (await gantry.api(`GET /projects/${project.id}/merge_requests?source_branch=${branch}`)).body;

test('creates a merge request on a push and changes it on a later one', async () => {
  const said = await push(
    'one',
    'create',
    'draft',
    'label=bug',
    'squash',
    'description=Two\\nlines',
    `assign=${user.username}`,
  );
  const [made, ...others] = await requestsOf('one');
  assert.equal(others.length, 0);
  assert.match(said, new RegExp(`remote: View merge request for one:\\s+remote: +\\S+${made.iid}`));
  assert.deepEqual(
    [made.title, made.description, made.target_branch, made.labels, made.squash, made.author.id],
    ['Draft: To one', 'Two\nlines', 'main', ['bug'], true, user.id],
  );
  assert.deepEqual(
    made.assignees.map(({ id }: { id: number }) => id),
    [user.id],
  );
  await push('one', 'title=Another', 'unlabel=bug', 'label=feature', `unassign=@${user.username}`);
  const [changed, ...more] = await requestsOf('one');
  assert.equal(more.length, 0);
  assert.deepEqual(
    [changed.iid, changed.title, changed.labels, changed.assignees],
    [made.iid, 'Another', ['feature'], []],
  );
});

test('marks a pushed title as a draft once', async () => {
  await push('marked', 'create', 'draft', 'title=[Draft] x');
  assert.equal((await requestsOf('marked'))[0].title, '[Draft] x');
  await push('marked', 'draft', 'title=WIP x');
  assert.equal((await requestsOf('marked'))[0].title, 'WIP x');
  await push('marked', 'draft', 'title=x');
  assert.equal((await requestsOf('marked'))[0].title, 'Draft: x');
});

test('reports an option that cannot be applied, and keeps the push', async () => {
  assert.match(
    await push('two', 'title=x'),
    /WARNINGS:\s+remote: +The push option 'merge_request.create' is required/,
  );
  assert.match(
    await push('two', 'create', 'target=nowhere'),
    /remote: +The merge request for two was not created/,
  );
  assert.match(await push('two', 'create', 'assign=nobody-at-all'), /nobody-at-all was not found/);
  assert.deepEqual(await requestsOf('two'), []);
  const said = await push('two', 'create', 'merge_when_ready', 'label');
  assert.match(said, /'merge_request.merge_when_ready' is not supported/);
  assert.match(said, /'merge_request.label' needs a value/);
  assert.equal((await requestsOf('two')).length, 1);
});

test('merges the merge request of a push when the pipeline succeeds', async () => {
  assert.doesNotMatch(await push('three', 'create', 'target=stable', 'auto_merge'), /WARNINGS/);
  const [created] = await requestsOf('three');
  assert.deepEqual(
    [created.merge_when_pipeline_succeeds, created.merge_user?.id, created.state],
    [true, user.id, 'opened'],
  );
  await gantry.service.worker.drain();
  assert.equal((await requestsOf('three'))[0].merge_when_pipeline_succeeds, true);
  await push('three');
  await gantry.service.worker.drain();
  assert.equal((await requestsOf('three'))[0].merge_when_pipeline_succeeds, false);
  await push('three', 'merge_when_pipeline_succeeds');
  await gantry.service.worker.drain();
  const [updated] = await requestsOf('three');
  assert.deepEqual([updated.merge_when_pipeline_succeeds, updated.sha !== created.sha], [true, true]);
  const said = await push('four', 'create', 'draft', 'target=stable', 'merge_when_pipeline_succeeds');
  assert.match(said, /405 Method Not Allowed/);
  const [draft] = await requestsOf('four');
  assert.equal(draft.merge_when_pipeline_succeeds, false);
});

test('passes variables of a push to its pipeline', async () => {
  await push('five', 'ci.variable=RETRIES=2', 'ci.variable=TEXT=a=b c', 'ci.variable=RETRIES=3');
  await gantry.service.worker.drain();
  const [pipeline] = (await gantry.api(`GET /projects/${project.id}/pipelines?ref=five`)).body;
  const { body } = await gantry.api(`GET /projects/${project.id}/pipelines/${pipeline.id}/variables`);
  assert.deepEqual(
    body.map(({ key, value }: { key: string; value: string }) => [key, value]),
    [
      ['RETRIES', '3'],
      ['TEXT', 'a=b c'],
    ],
  );
  assert.match(await push('five', 'ci.variable=novalue'), /expected ci.variable=KEY=value/);
  assert.match(await push('five', 'ci.variable=a-b=1'), /can contain only letters/);
  await push('five', 'ci.skip');
  await gantry.service.worker.drain();
  const { body: all } = await gantry.api(`GET /projects/${project.id}/pipelines?ref=five`);
  assert.deepEqual(
    all.map(({ status }: { status: string }) => status === 'skipped'),
    [true, false, false, false],
  );
});

test('finds milestones of parent groups by title', async () => {
  const group = await seedGroup(gantry);
  const other = await seedProject(gantry, { namespace: group.id });
  await gantry.api(`POST /groups/${group.id}/milestones`, { json: { title: 'Autumn' } });
  const url = repositoryUrl(gantry.url, other.full_path, rootToken);
  await tree.git('push', '--quiet', url, 'main');
  const commit = await tree.git('commit-tree', '-p', 'main', '-m', 'Change', 'main^{tree}');
  const options = ['-o', 'merge_request.create', '-o', 'merge_request.milestone=Autumn'];
  await tree.git('push', ...options, url, `${commit}:refs/heads/topic`);
  const { body } = await gantry.api(`GET /projects/${other.id}/merge_requests`);
  assert.equal(body[0]?.milestone?.title, 'Autumn');
});

test('are in the payloads of webhooks, without the values of variables', async () => {
  const receiver = await startHookReceiver();
  try {
    await gantry.api('PUT /application/settings', {
      json: { allow_local_requests_from_hooks_and_services: true },
    });
    await gantry.api(`POST /projects/${project.id}/hooks`, { json: { url: receiver.url } });
    await push('hooked', 'create', 'label=bug', 'ci.variable=TOKEN=secret-value');
    await gantry.service.worker.drain();
    const [payload] = receiver.received.map(({ body }) => body);
    assert.deepEqual(payload.push_options, { merge_request: { create: true, label: { bug: 1 } } });
    assert.doesNotMatch(JSON.stringify(receiver.received), /secret-value/);
  } finally {
    await receiver.close();
  }
});
