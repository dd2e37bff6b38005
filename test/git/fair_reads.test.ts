/** A user who asks for many slow reads at once does not block reads, commits, merges and pushes of others. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findGit } from '../../gitd/exec/find_git.ts';
import { newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { openRepository, seedCommit } from '../support/repositories/seed_commits.ts';
import { type SeededProject, type SeededUser, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Slots of gitd for short processes. */
const slots = Math.max(4, 2 * availableParallelism());

const usualPath = process.env['PATH'] ?? '';
let folder: string;
let gantry: TestService;
let greedy: SeededUser;
let modest: SeededUser;
let slow: SeededProject;
let project: SeededProject;

/**
 * A git whose `log` waits as long as its repository contains the file `slow`. Each process that waits is a file in
 * `held`.
 */
const gitScript = (git: string): string => `#!/bin/sh
repository="\${1#--git-dir=}"
if [ "$2" = log ] && [ -e "$repository/slow" ]; then
  : > '${folder}/held/'$$
  while [ -e "$repository/slow" ]; do /bin/sleep 0.05; done
fi
exec '${git}' "$@"
`;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-fair-'));
  await mkdir(join(folder, 'held'));
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/git'), gitScript(findGit()));
  await chmod(join(folder, 'bin/git'), 0o755);
  process.env['PATH'] = `${join(folder, 'bin')}:${usualPath}`;
  gantry = await startTestService();
  [greedy, modest] = [await seedUser(gantry), await seedUser(gantry)];
  slow = await seedProject(gantry, { owner: greedy.id });
  project = await seedProject(gantry, { owner: modest.id });
  await seedCommit(gantry, project.id, { a: '1' });
});
after(async () => {
  process.env['PATH'] = usualPath;
  await gantry.close();
  await rm(folder, { recursive: true });
});

const countHeld = async (): Promise<number> => (await readdir(join(folder, 'held'))).length;

const callAsModest = async (route: string, json?: object) => {
  const answer = await gantry.api(route, { as: modest.token, ...(json !== undefined && { json }) });
  assert.ok(answer.status === 200 || answer.status === 201, `${route}: ${answer.status}`);
  return answer;
};

const commitTo = async (branch: string, path: string): Promise<void> => {
  const actions = [{ action: 'create', file_path: path, content: 'new' }];
  const json = { branch, start_branch: 'main', commit_message: 'Commit', actions };
  await callAsModest(`POST /projects/${project.id}/repository/commits`, json);
};

const mergeBranch = async (branch: string): Promise<void> => {
  const root = `/projects/${project.id}/merge_requests`;
  const json = { source_branch: branch, target_branch: 'main', title: 'Merge' };
  const { body } = await callAsModest(`POST ${root}`, json);
  const { iid } = body as { iid: number };
  await until('the merge request can be merged', async () => {
    const { body: state } = await callAsModest(`GET ${root}/${iid}`);
    return (state as { detailed_merge_status: string }).detailed_merge_status === 'mergeable';
  });
  await callAsModest(`PUT ${root}/${iid}/merge`, {});
};

const push = async (branch: string): Promise<void> => {
  const tree = await newWorkTree();
  await tree.commit('Pushed', { pushed: 'b' });
  const url = repositoryUrl(gantry.url, project.full_path, modest.token);
  const pushed = await tryGit(tree.path, ['push', url, `HEAD:refs/heads/${branch}`]);
  assert.equal(pushed.code, 0, pushed.stderr);
  await tree.remove();
};

test('one user has a share of the git processes, and others go on', async () => {
  const branches = Array.from({ length: slots + 2 }, (_one, at) => `branch-${at}`);
  for (const branch of branches)
    await seedCommit(gantry, slow.id, { [branch]: '1' }, { branch, onto: null, message: branch });
  const { path } = await openRepository(gantry, slow.id);
  const marker = join(gantry.service.platform.config.data, 'repositories/default', path, 'slow');
  await writeFile(marker, '');
  const route = `GET /projects/${slow.id}/repository/contributors`;
  const asked = branches.map(
    async (branch) => await gantry.api(`${route}?ref=${branch}`, { as: greedy.token }),
  );
  try {
    await until('the share of one user is used', async () => (await countHeld()) >= slots / 2);
    await callAsModest(`GET /projects/${project.id}/repository/contributors`);
    await callAsModest(`GET /projects/${project.id}/repository/commits?path=a&with_stats=true`);
    await commitTo('topic', 'b');
    await callAsModest(`GET /projects/${project.id}/repository/compare?from=main&to=topic`);
    await mergeBranch('topic');
    await push('pushed');
    assert.equal(await countHeld(), slots / 2);
  } finally {
    await rm(marker);
    await Promise.all(asked);
  }
  const { status } = await gantry.api(`${route}?ref=branch-0`, { as: greedy.token });
  assert.equal(status, 200);
});
