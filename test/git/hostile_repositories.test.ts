/** Malicious repositories: whatever the service accepts is served or refused with a message. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Crafted, craft } from '../support/repositories/hostile_repositories.ts';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { sample } from '../support/run/sample.ts';
import { type SeededProject, seedProject } from '../support/seed.ts';
import { type Reply, type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
let first: string;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  first = await tree.commit('First', { 'README.md': 'Hello\n', kept: 'kept\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const urlOf = (project: SeededProject): string => repositoryUrl(gantry.url, project.full_path, rootToken);

/** Requires an answer below 500. */
const ask = async (line: string, json?: object): Promise<Reply> => {
  const reply = await gantry.api(line, json === undefined ? {} : { json });
  assert.ok(reply.status < 500, `${line.slice(0, 200)}: ${reply.status} ${reply.text.slice(0, 300)}`);
  return reply;
};

const readAll = async (paths: readonly string[]): Promise<void> => {
  await Promise.all(paths.map(async (path) => await ask(`GET ${path}`)));
};

/** Reads at most this many files of a repository, each in many ways. */
const mostFiles = 25;

const readFiles = async (code: string): Promise<void> => {
  const { body } = await ask(`GET ${code}/tree?ref=hostile&per_page=${mostFiles}`);
  const pathsOf = ({ id, path }: { id: string; path: string }): string[] => {
    const name = encodeURIComponent(path);
    return [
      ...['', '/raw', '/blame'].map((rest) => `${code}/files/${name}${rest}?ref=hostile`),
      `${code}/tree?path=${name}&ref=hostile`,
      `${code}/commits?path=${name}&ref_name=hostile`,
      `${code}/archive.tar?path=${name}&sha=hostile`,
      `${code}/blobs/${id}`,
    ];
  };
  await readAll((body as { id: string; path: string }[]).flatMap(pathsOf));
};

const readCode = async (project: SeededProject): Promise<void> => {
  const code = `/projects/${project.id}/repository`;
  await readFiles(code);
  const rest = [
    'tree?recursive=true&ref=hostile',
    'archive.tar?sha=hostile',
    'archive.zip?sha=hostile',
    'compare?from=main&to=hostile',
    'compare?from=hostile&to=main&straight=true',
    'branches',
    'tags',
    'tags/hostile',
    'commits?ref_name=hostile&with_stats=true',
    'commits?all=true',
    'commits/hostile',
    'commits/hostile/diff',
    'commits/hostile/refs',
    'commits/hostile/sequence',
    'commits/hostile/signature',
    'commits/hostile/statuses',
    'commits/hostile/merge_requests',
    'merge_base?refs[]=main&refs[]=hostile',
    'contributors?ref=hostile',
  ];
  await readAll([...rest.map((path) => `${code}/${path}`), `/projects/${project.id}?statistics=true`]);
};

const write = async (project: SeededProject): Promise<void> => {
  const code = `/projects/${project.id}/repository`;
  await ask(`POST ${code}/branches`, { branch: 'picked', ref: 'main' });
  await ask(`POST ${code}/commits/hostile/cherry_pick`, { branch: 'picked' });
  await ask(`POST ${code}/commits/hostile/revert`, { branch: 'hostile', dry_run: true });
  await ask(`POST ${code}/commits`, {
    branch: 'written',
    start_branch: 'hostile',
    commit_message: 'Beside it',
    actions: [{ action: 'create', file_path: 'beside/it', content: 'x' }],
  });
};

const requestMerge = async (project: SeededProject): Promise<void> => {
  const made = await ask(`POST /projects/${project.id}/merge_requests`, {
    source_branch: 'hostile',
    target_branch: 'main',
    title: 'Take it',
  });
  assert.equal(made.status, 201, made.text);
  const path = `/projects/${project.id}/merge_requests/${made.body.iid}`;
  const [version] = (await ask(`GET ${path}/versions`)).body as { id: number }[];
  await readAll(
    ['', '/commits', '/changes', '/diffs', '/raw_diffs', '/merge_ref', '/closes_issues', '/participants']
      .concat('/pipelines', `/versions/${version?.id}`)
      .map((rest) => `${path}${rest}`),
  );
  await ask(`PUT ${path}/rebase`);
  await gantry.service.worker.drain();
  await ask(`PUT ${path}/merge`, { squash: true });
};

const push = async (project: SeededProject, { refs }: Crafted): Promise<boolean> => {
  const changes = refs.map(([id, ref]) => `${id}:${ref}`);
  return (await tryGit(tree.path, ['push', '--quiet', urlOf(project), ...changes])).code === 0;
};

for (const [name, make] of sample(Object.entries(craft), 6, ([name]) => name)) {
  test(`${name}: is refused, or served by every endpoint`, async () => {
    const project = await seedProject(gantry);
    await tree.git('push', '--quiet', urlOf(project), `${first}:refs/heads/main`);
    const crafted = await make(tree.path, first);
    assert.equal(await push(project, crafted), crafted.taken);
    if (!crafted.taken) {
      assert.equal(await git(tree.path, 'ls-remote', urlOf(project), 'refs/heads/hostile'), '');
      return;
    }
    await readCode(project);
    await write(project);
    await requestMerge(project);
    await gantry.service.worker.drain();
    assert.equal((await gantry.api(`GET /projects/${project.id}/repository/branches/main`)).status, 200);
  });
}
