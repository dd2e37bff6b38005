/** Merge requests are updated after a git push, and the push does not wait for that. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type WorkTree, newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { type Request, openRequest, toPath, readRequest } from '../support/seed_merge_requests.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
let project: SeededProject;
let request: Request;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  project = await seedProject(gantry);
  await tree.commit('First', { 'a.txt': 'a\n' });
  await tree.git('remote', 'add', 'origin', repositoryUrl(gantry.url, project.full_path, rootToken));
  await tree.git('push', '--quiet', 'origin', 'main');
  await tree.git('checkout', '--quiet', '-b', 'topic');
  await tree.commit('Second', { 'b.txt': 'b\n' });
  await tree.git('push', '--quiet', 'origin', 'topic');
  request = await openRequest(gantry, project, 'topic');
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

/** Polls for ten seconds at most, without hastening the background work. */
const until = async (holds: (now: Request) => boolean): Promise<Request> => {
  for (let tries = 0; tries < 500; tries += 1) {
    const now = await readRequest(gantry, request);
    if (holds(now)) return now;
    await wait(20);
  }
  return assert.fail(`not so after ten seconds: ${JSON.stringify(await readRequest(gantry, request))}`);
};

const versions = async (): Promise<number> =>
  (await gantry.api(`GET ${toPath(request)}/versions`)).body.length;

test('creates a version on a push to the source branch, and updates mergeability on a push to the target', async () => {
  assert.equal(request.merge_status, 'can_be_merged');
  const sha = await tree.commit('Third', { 'b.txt': 'b\nb\n' });
  await tree.git('push', '--quiet', 'origin', 'topic');
  await until((now) => now.sha === sha);
  assert.equal(await versions(), 2);
  await tree.git('checkout', '--quiet', 'main');
  await tree.commit('Beside it', { 'b.txt': 'other\n' });
  await tree.git('push', '--quiet', 'origin', 'main');
  await until((now) => now.merge_status === 'cannot_be_merged');
  await tree.git('checkout', '--quiet', 'topic');
});

test('answers a push before any merge request is updated, and keeps the pending work', async () => {
  const [before, { sha }] = [await versions(), await readRequest(gantry, request)];
  await gantry.service.worker.stop();
  await tree.commit('Fourth', { 'b.txt': 'b\nb\nb\n' });
  await tree.git('push', '--quiet', 'origin', 'topic');
  assert.deepEqual([await versions(), (await readRequest(gantry, request)).sha], [before, sha]);
  const { db } = gantry.service.platform.store;
  const left = await db
    .selectFrom('work')
    .select('payload')
    .where('name', '=', 'repository.refs_moved')
    .execute();
  const refs = left.map(({ payload }) => JSON.parse(JSON.parse(payload).updates)[0].ref);
  assert.deepEqual(refs, ['refs/heads/topic']);
});
