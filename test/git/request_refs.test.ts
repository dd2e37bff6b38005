/** Merge requests may be members-only in a project with public code; their refs are then, too. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { openRepository } from '../support/repositories/seed_commits.ts';

let gantry: TestService;
let tree: WorkTree;
let shown: string;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n' });
  shown = await tree.git('commit-tree', '-p', 'main', '-m', 'Of a merge request', 'main^{tree}');
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const urlOf = (project: SeededProject, token: string | null): string =>
  repositoryUrl(gantry.url, project.full_path, token);

const withRequest = async (merge_requests_access_level: string): Promise<SeededProject> => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project, rootToken), 'main', `${shown}:refs/heads/topic`);
  const ref = { ref: 'refs/merge-requests/1/head', old: '0'.repeat(40), new: shown };
  const repository = await openRepository(gantry, project.id);
  await repository.ask('refs.update', { updates: [ref] });
  await tree.git('push', '--quiet', urlOf(project, rootToken), ':refs/heads/topic');
  const json = { merge_requests_access_level };
  assert.equal((await gantry.api(`PUT /projects/${project.id}`, { json })).status, 200);
  return project;
};

/** Sends credentials with the first request, which git does not. */
const headersOf = (token: string | null): string[] => {
  if (token === null) return [];
  const basic = Buffer.from(`x:${token}`).toString('base64');
  return ['-c', `http.extraHeader=Authorization: Basic ${basic}`];
};

/** Requests in each protocol version: the ref list, the ref by name, the commit by id. */
const seenBy = async (project: SeededProject, token: string | null): Promise<boolean[]> => {
  const seen: boolean[] = [];
  for (const version of ['0', '1', '2']) {
    const into = await newWorkTree();
    const run = async (...args: string[]) =>
      await tryGit(into.path, ['-c', `protocol.version=${version}`, ...headersOf(token), ...args]);
    const { stdout, code } = await run('ls-remote', urlOf(project, null));
    assert.equal(code, 0);
    seen.push(stdout.includes('refs/merge-requests/1/head'));
    for (const wanted of ['refs/merge-requests/1/head', shown]) {
      seen.push((await run('fetch', '--quiet', urlOf(project, null), wanted)).code === 0);
    }
    await into.remove();
  }
  return seen;
};

const commitSeen = async (project: SeededProject, name: string, token: string | null): Promise<number> =>
  (
    await gantry.api(`GET /projects/${project.id}/repository/commits/${encodeURIComponent(name)}`, {
      as: token,
    })
  ).status;

test('hides refs and abbreviated ids of removed commits in the API from users without the right', async () => {
  const project = await withRequest('private');
  const gone = await tree.git('commit-tree', '-p', 'main', '-m', 'Gone', 'main^{tree}');
  await tree.git('push', '--quiet', urlOf(project, rootToken), `${gone}:refs/heads/gone`);
  await tree.git('push', '--quiet', urlOf(project, rootToken), ':refs/heads/gone');
  const ref = { ref: `refs/keep-around/${gone}`, old: '0'.repeat(40), new: gone };
  const repository = await openRepository(gantry, project.id);
  await repository.ask('refs.update', { updates: [ref] });
  const main = (await tree.git('rev-parse', 'main')).slice(0, 12);
  for (const name of ['refs/merge-requests/1/head', shown.slice(0, 12)]) {
    assert.equal(await commitSeen(project, name, null), 404, name);
    assert.equal(await commitSeen(project, name, rootToken), 200, name);
  }
  for (const name of [ref.ref, gone.slice(0, 4), gone.slice(0, 12)])
    assert.equal(await commitSeen(project, name, rootToken), 404, name);
  assert.equal(await commitSeen(project, main, null), 200);
});

const everything = Array.from({ length: 9 }, () => true);
const nothing = everything.map(() => false);

test('serves merge request refs only to users who may read them, in every version', async () => {
  assert.deepEqual(await seenBy(await withRequest('enabled'), null), everything);
  const project = await withRequest('private');
  const [stranger, member] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 30 });
  assert.deepEqual(await seenBy(project, member.token), everything);
  assert.deepEqual(await seenBy(project, null), nothing);
  assert.deepEqual(await seenBy(project, stranger.token), nothing);
});

test('asks for credentials when such a ref is requested, because git sends them only then', async () => {
  const project = await withRequest('private');
  const member = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 30 });
  const fetchAs = async (token: string | null) =>
    await tryGit(tree.path, ['fetch', '--quiet', urlOf(project, token), 'refs/merge-requests/1/head']);
  assert.equal((await fetchAs(member.token)).code, 0);
  assert.notEqual((await fetchAs(null)).code, 0);
  assert.equal((await tryGit(tree.path, ['fetch', '--quiet', urlOf(project, null), 'main'])).code, 0);
});
