/** @gitbeaker/rest, unmodified, through the whole life of a merge request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let root: InstanceType<typeof Gitlab<false>>;
const project = 'root/engine';

before(async () => {
  gantry = await startTestService();
  root = new Gitlab({ host: gantry.url, token: rootToken });
});
after(async () => await gantry.close());

test('a repository is filled through the API', async () => {
  await root.Projects.create({ name: 'engine', visibility: 'public' });
  await root.RepositoryFiles.create(project, 'README.md', 'main', 'one\n', 'First');
  const shown = await root.Projects.show(project);
  assert.equal(shown['default_branch'], 'main');
  const branch = await root.Branches.create(project, 'turn', 'main');
  assert.equal(branch.name, 'turn');
  const commit = await root.Commits.create(project, 'turn', 'It turns\n\nCloses #1', [
    { action: 'create', filePath: 'turn.txt', content: 'round\n' },
    { action: 'update', filePath: 'README.md', content: 'one\ntwo\n' },
  ]);
  assert.equal(commit.title, 'It turns');
  const names = (await root.Branches.all(project)).map(({ name }) => name);
  assert.deepEqual(names.toSorted(), ['main', 'turn']);
  const tree = await root.Repositories.allRepositoryTrees(project, { ref: 'turn' });
  assert.deepEqual(
    tree.map(({ path }) => path),
    ['README.md', 'turn.txt'],
  );
  const file = await root.RepositoryFiles.show(project, 'README.md', 'turn');
  assert.equal(Buffer.from(file.content, 'base64').toString(), 'one\ntwo\n');
});

test('a merge request is opened, discussed, approved, merged, and closes its issue', async () => {
  await root.Issues.create(project, 'It does not turn');
  const made = await root.MergeRequests.create(project, 'turn', 'main', 'Turn', {
    description: 'Closes #1',
    removeSourceBranch: true,
  });
  assert.equal(made.iid, 1);
  assert.equal(made.state, 'opened');
  const shown = await root.MergeRequests.show(project, 1);
  assert.equal(shown.merge_status, 'can_be_merged');
  assert.equal(shown.diff_refs.head_sha, shown.sha);
  assert.deepEqual(
    (await root.MergeRequests.allCommits(project, 1)).map(({ title }) => title),
    ['It turns'],
  );
  const diffs = await root.MergeRequests.allDiffs(project, 1);
  assert.deepEqual(diffs.map(({ new_path }) => new_path).toSorted(), ['README.md', 'turn.txt']);
  const [version] = await root.MergeRequests.allDiffVersions(project, 1);
  assert.equal(version?.state, 'collected');
  assert.deepEqual(
    (await root.MergeRequests.allIssuesClosed(project, 1)).map((issue) => issue['iid']),
    [1],
  );

  const discussion = await root.MergeRequestDiscussions.create(project, 1, 'Why two?', {
    position: {
      baseSha: shown.diff_refs.base_sha,
      startSha: shown.diff_refs.start_sha,
      headSha: shown.diff_refs.head_sha,
      positionType: 'text',
      oldPath: 'README.md',
      newPath: 'README.md',
      newLine: '2',
    },
  });
  const note = discussion.notes?.[0];
  assert.equal(note?.['type'], 'DiffNote');
  assert.equal(note?.['resolvable'], true);
  await root.MergeRequestDiscussions.addNote(project, 1, discussion.id, 'Because.');
  const resolved = await root.MergeRequestDiscussions.resolve(project, 1, discussion.id, true);
  assert.ok(resolved.notes?.every((each) => each['resolved'] === true));
  await root.MergeRequestNotes.create(project, 1, 'Nice.');
  assert.ok((await root.MergeRequestNotes.all(project, 1)).some(({ body }) => body === 'Nice.'));

  await root.MergeRequestApprovals.approve(project, 1);
  const approvals = await root.MergeRequestApprovals.showConfiguration(project, { mergerequestIId: 1 });
  assert.equal(approvals['approved'], true);
  await root.MergeRequests.edit(project, 1, { title: 'Turn, at last', labels: 'motion' });
  assert.equal((await root.MergeRequests.setTimeEstimate(project, 1, '1h')).time_estimate, 3600);

  const merged = await root.MergeRequests.merge(project, 1, { sha: shown.sha });
  assert.equal(merged.state, 'merged');
  assert.match(String(merged.merge_commit_sha), /^[0-9a-f]{40}$/);
  const main = await root.Branches.show(project, 'main');
  assert.equal(main.commit.id, merged.merge_commit_sha);
  assert.equal((await root.Issues.show(1, { projectId: project })).state, 'closed');
  // The source branch goes just after the answer.
  await gantry.service.worker.drain();
  const names = (await root.Branches.all(project)).map(({ name }) => name);
  assert.deepEqual(names, ['main']);
  assert.deepEqual(
    (await root.MergeRequests.all({ projectId: project, state: 'merged' })).map(({ iid }) => iid),
    [1],
  );
});

test('a tag, a release and a comparison', async () => {
  await root.Tags.create(project, 'v1', 'main', { message: 'One' });
  const release = await root.ProjectReleases.create(project, {
    tagName: 'v1',
    name: 'One',
    description: 'It turns',
  });
  assert.equal(release.tag_name, 'v1');
  assert.equal((await root.ProjectReleases.all(project)).length, 1);
  const compared = await root.Repositories.compare(project, 'v1', 'main');
  assert.equal((compared['commits'] as unknown[]).length, 0);
});

test('a merge request from a fork', async () => {
  const made = await root.Users.create({
    email: 'ada@example.com',
    username: 'ada',
    name: 'Ada',
    password: 'a long enough pass phrase',
    skipConfirmation: true,
  });
  const token = await root.UserImpersonationTokens.create(made.id, 'gitbeaker', ['api'], {
    expiresAt: '2100-01-01',
  });
  const ada = new Gitlab({ host: gantry.url, token: String((token as { token: unknown }).token) });
  const fork = await ada.Projects.fork(project);
  assert.equal(fork['path_with_namespace'], 'ada/engine');
  const upstream = await ada.Projects.show(project);
  await ada.Commits.create(
    'ada/engine',
    'faster',
    'Faster',
    [{ action: 'create', filePath: 'fast', content: 'x' }],
    {
      startBranch: 'main',
    },
  );
  const request = await ada.MergeRequests.create('ada/engine', 'faster', 'main', 'Faster', {
    targetProjectId: upstream.id,
  });
  assert.equal(request.project_id, upstream.id);
  const merged = await root.MergeRequests.merge(project, request.iid);
  assert.equal(merged.state, 'merged');
  await ada.MergeRequests.create('ada/engine', 'main', 'main', 'Nothing', {
    targetProjectId: upstream.id,
  }).then((empty) => assert.equal(empty.state, 'opened'));
});
