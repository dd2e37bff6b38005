/** Content too large for git to compare is refused permanently and does not block other work. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { craftTreeBomb } from '../support/repositories/hostile_repositories.ts';
import { type WorkTree, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
let project: SeededProject;
let code: string;
let bomb: string;
const push = async (...refs: string[]): Promise<void> => {
  const url = repositoryUrl(gantry.url, project.full_path, rootToken);
  await tree.git('push', '--quiet', '--force', url, ...refs);
  await gantry.service.worker.drain();
};

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  project = await seedProject(gantry);
  code = `/projects/${project.id}/repository`;
  const first = await tree.commit('First', { 'a.txt': 'a\n' });
  const { refs } = craftTreeBomb(tree.path, first);
  bomb = refs[0]?.[0] ?? '';
  await push(`${first}:refs/heads/main`, `${bomb}:refs/heads/bomb`);
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

test('omits the stats of a commit that is too large from a list of commits', async () => {
  const { status, body } = await gantry.api(`GET ${code}/commits?ref_name=bomb&with_stats=true`);
  assert.equal(status, 200);
  assert.deepEqual(
    body.map(({ id, stats }: { id: string; stats?: { total: number } }) => [id === bomb, stats?.total]),
    [
      [true, undefined],
      [false, 1],
    ],
  );
  const one = await gantry.api(`GET ${code}/commits/${bomb}`);
  assert.deepEqual([one.status, one.body.id, 'stats' in one.body], [200, bomb, false]);
});

test('marks a comparison as truncated, and refuses a diff', async () => {
  const { status, body } = await gantry.api(`GET ${code}/compare?from=main&to=bomb`);
  assert.equal(status, 200);
  assert.deepEqual([body.commits.length, body.diffs, body.compare_timeout], [1, [], true]);
  const diff = await gantry.api(`GET ${code}/commits/${bomb}/diff`);
  assert.equal(diff.status, 413);
  assert.match(diff.body.message, /^413 Request Entity Too Large - /);
});

test('refuses to merge, says why, and allows it after other changes are pushed', async () => {
  const created = await gantry.api(`POST /projects/${project.id}/merge_requests`, {
    json: { source_branch: 'bomb', target_branch: 'main', title: 'Merge the bomb' },
  });
  assert.equal(created.status, 201);
  await gantry.service.worker.drain();
  const path = `/projects/${project.id}/merge_requests/${created.body.iid}`;
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual(
    [body.merge_status, body.merge_error],
    ['cannot_be_merged', 'Merge failed: the changes are too large'],
  );
  const merge = await gantry.api(`PUT ${path}/merge`);
  assert.deepEqual([merge.status, merge.body.message], [405, 'Branch cannot be merged']);
  const small = await tree.git('commit-tree', '-p', 'main', '-m', 'Small', 'main^{tree}');
  await push(`${small}:refs/heads/bomb`);
  const now = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual([now.merge_status, now.merge_error], ['can_be_merged', null]);
  await push(`${bomb}:refs/heads/bomb`);
  assert.equal((await gantry.api(`PUT ${path}/rebase`)).status, 202);
  await gantry.service.worker.drain();
  const rebased = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual(
    [rebased.rebase_in_progress, rebased.merge_error],
    [false, 'Rebase failed: the changes are too large'],
  );
});
