/** What the service refuses in pushes and fetches. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Repository } from '../../src/platform/git/repository.ts';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { openRepository } from '../support/repositories/seed_commits.ts';

let gantry: TestService;
let folder: string;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService({ GANTRY_PUSH_LIMIT: '2', GANTRY_FILE_LIMIT: '1' });
  folder = await mkdtemp(join(tmpdir(), 'gantry-refusals-'));
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n' });
  await tree.commit('Second', { 'b.txt': 'b\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
  await rm(folder, { recursive: true, force: true });
});

const urlOf = (project: { full_path: string }, token: string | null = rootToken): string =>
  repositoryUrl(gantry.url, project.full_path, token);

const repositoryOf = async (project: SeededProject): Promise<Repository> =>
  await openRepository(gantry, project.id);

const refsOf = async (project: SeededProject): Promise<string[]> => {
  const { refs } = await (
    await repositoryOf(project)
  ).ask('refs.list', {
    prefix: 'refs/',
    sort: 'name',
    offset: 0,
    limit: 100,
  });
  return refs.map(({ name }) => name);
};

const withMain = async (): Promise<SeededProject> => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project), 'main');
  return project;
};

const hostileNames = [
  'refs/replace/0123456789012345678901234567890123456789',
  'refs/heads/--upload-pack=x',
  'refs/heads/-x',
  'refs/heads/0123456789012345678901234567890123456789',
  'refs/heads/HEAD',
  'refs/heads/refs/heads/x',
  'refs/merge-requests/1/head',
  'refs/keep-around/0123456789012345678901234567890123456789',
  'refs/pipelines/1',
  'refs/pull/1/head',
  'refs/stash',
  'refs/tags/-x',
  'refs/tags/HEAD',
  'refs/heads/\u202egnp.exe',
  'refs/heads/zero\u200bwidth',
  `refs/heads/${'a'.repeat(300)}`,
  'refs/heads/MAIN',
];

test('refuses confusing ref names, and keeps nothing of the push', async () => {
  const project = await withMain();
  for (const name of hostileNames) {
    const { code, stderr } = await tryGit(tree.path, [
      'push',
      urlOf(project),
      `main:${name}`,
      'main:refs/heads/fine',
    ]);
    assert.notEqual(code, 0, name);
    assert.match(stderr, /remote rejected|hidden ref|failed to push/, name);
  }
  assert.deepEqual(await refsOf(project), ['refs/heads/main']);
});

test('tells the pusher the reason', async () => {
  const project = await withMain();
  const why = async (...refs: string[]): Promise<string> =>
    (await tryGit(tree.path, ['push', urlOf(project), ...refs])).stderr;
  assert.match(await why('main:refs/heads/-x'), /remote: refs\/heads\/-x: this name is not allowed\./);
  assert.match(
    await why('main:refs/pull/x'),
    /remote: refs\/pull\/x: only branches .* tags .* and notes .* can be pushed\./,
  );
  assert.match(
    await why('main:refs/heads/Main'),
    /remote: refs\/heads\/Main: refs\/heads\/main differs only in case\./,
  );
  assert.match(await why('main:refs/heads/b', 'main:refs/heads/B'), /differs only in case/);
  assert.match(await why(':refs/heads/main'), /remote: The default branch of a project cannot be deleted\./);
});

test('accepts a branch that differs in case from one deleted by the same push', async () => {
  const project = await withMain();
  await tree.git('push', '--quiet', urlOf(project), 'main:refs/heads/topic');
  await tree.git('push', '--quiet', urlOf(project), ':refs/heads/topic', 'main:refs/heads/Topic');
  assert.deepEqual(await refsOf(project), ['refs/heads/Topic', 'refs/heads/main']);
});

test('lets only allowed users push to protected branches, without force or deletion', async () => {
  const project = await withMain();
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const { store } = gantry.service.platform;
  await store.write(async ({ db, now }) => {
    const rule = { project_id: project.id, name: 'release/*', push_access_level: 40, merge_access_level: 30 };
    await db
      .insertInto('protected_branches')
      .values({ ...rule, created_at: now })
      .execute();
  });
  const push = async (token: string, ...args: string[]): Promise<string> =>
    (await tryGit(tree.path, ['push', urlOf(project, token), ...args])).stderr;
  const denied = /remote: You are not allowed to push code to protected branches on this project\./;
  assert.match(await push(developer.token, 'main~1:main'), /non-fast-forward|rejected/);
  const newer = await tree.git('commit-tree', '-p', 'main', '-m', 'Newer', 'main^{tree}');
  assert.match(await push(developer.token, `${newer}:refs/heads/main`), denied);
  assert.match(await push(developer.token, 'main:refs/heads/release/1'), denied);
  assert.match(await push(rootToken, 'main:refs/heads/release/1'), /\[new branch\]/);
  const forced = /You are not allowed to force push code to a protected branch on this project\./;
  assert.match(await push(rootToken, '--force', 'main~1:refs/heads/release/1'), forced);
  assert.match(
    await push(rootToken, ':refs/heads/release/1'),
    /You can only delete protected branches using the API\./,
  );
  assert.match(await push(developer.token, 'main:refs/heads/free'), /\[new branch\]/);
  assert.doesNotMatch(await push(developer.token, '--force', 'main~1:refs/heads/free'), /not allowed/);
  assert.deepEqual(await refsOf(project), ['refs/heads/free', 'refs/heads/main', 'refs/heads/release/1']);
});

test('lets only allowed users create protected tags, and keeps them', async () => {
  const project = await withMain();
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const rule = { project_id: project.id, name: 'v*', create_access_level: 40, created_at: now };
    await db.insertInto('protected_tags').values(rule).execute();
  });
  const push = async (token: string, ...args: string[]): Promise<string> =>
    (await tryGit(tree.path, ['push', urlOf(project, token), ...args])).stderr;
  assert.match(
    await push(developer.token, 'main:refs/tags/v1'),
    /You are not allowed to create this tag as it is protected\./,
  );
  assert.match(await push(rootToken, 'main:refs/tags/v1'), /\[new tag\]/);
  assert.match(await push(rootToken, '--force', 'main~1:refs/tags/v1'), /Protected tags cannot be updated\./);
  assert.match(await push(rootToken, ':refs/tags/v1'), /You are not allowed to delete protected tags/);
  assert.match(await push(developer.token, 'main:refs/tags/other'), /\[new tag\]/);
});

/** Objects that attack a checkout, each as a commit of that tree. */
const hostileTrees: Record<string, (path: string, blob: string) => Promise<string>> = {
  'a folder .git': async (path, blob) => await hostileTree(path, `100644 blob ${blob}\t.git`),
  'a folder .GIT': async (path, blob) => await hostileTree(path, `100644 blob ${blob}\t.GIT`),
  'a file git~1': async (path, blob) => await hostileTree(path, `100644 blob ${blob}\tgit~1`),
  'the folder above': async (path, blob) => await hostileTree(path, `100644 blob ${blob}\t..`),
  'a .gitmodules that is a link': async (path, blob) =>
    await hostileTree(path, `120000 blob ${blob}\t.gitmodules`),
  'a submodule whose URL is an option': async (path) => {
    const text = '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n';
    const file = await gitWithInput(path, text, 'hash-object', '-w', '--stdin');
    return await hostileTree(path, `100644 blob ${file}\t.gitmodules`);
  },
  'a submodule above': async (path) => {
    const text = '[submodule "../../x"]\n\tpath = x\n\turl = https://example.com/x\n';
    const file = await gitWithInput(path, text, 'hash-object', '-w', '--stdin');
    return await hostileTree(path, `100644 blob ${file}\t.gitmodules`);
  },
};

const gitWithInput = async (cwd: string, input: string, ...args: string[]): Promise<string> => {
  const { execFileSync } = await import('node:child_process');
  return execFileSync('git', args, { cwd, input, env: { PATH: process.env['PATH'], HOME: '/nonexistent' } })
    .toString()
    .trim();
};

/** Writes a tree object that no regular git writes. */
const hostileTree = async (path: string, ...entries: string[]): Promise<string> => {
  const { execFileSync } = await import('node:child_process');
  const bytes = entries.map((entry) => {
    const [head = '', name = ''] = entry.split('\t');
    const [mode = '', , oid = ''] = head.split(' ');
    return Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  });
  const args = ['hash-object', '-w', '--literally', '-t', 'tree', '--stdin'];
  return execFileSync('git', args, { cwd: path, input: Buffer.concat(bytes) })
    .toString()
    .trim();
};

test('refuses objects that attack a checkout', async () => {
  const project = await withMain();
  const blob = await gitWithInput(tree.path, 'payload\n', 'hash-object', '-w', '--stdin');
  for (const [name, make] of Object.entries(hostileTrees)) {
    const made = await make(tree.path, blob);
    const commit = await tree.git('commit-tree', '-m', 'Hostile', made);
    const { code, stderr } = await tryGit(tree.path, [
      'push',
      urlOf(project),
      `${commit}:refs/heads/hostile`,
    ]);
    assert.notEqual(code, 0, name);
    assert.match(stderr, /fsck|unpacker error|remote unpack failed/, name);
  }
  assert.deepEqual(await refsOf(project), ['refs/heads/main']);
});

test('refuses a push or file that is too large, and leaves nothing', async () => {
  const project = await withMain();
  const sizeOf = async (): Promise<number> =>
    (await (await repositoryOf(project)).ask('repository.statistics', {})).size;
  const before = await sizeOf();
  const push = async (ref: string): Promise<string> =>
    (await tryGit(tree.path, ['push', urlOf(project), `${ref}:refs/heads/large`])).stderr;
  const commitOf = async (bytes: number): Promise<string> => {
    const text = Array.from({ length: bytes / 10 }, () =>
      Math.random().toString(36).slice(2, 12).padEnd(10, 'x'),
    ).join('');
    const blob = await gitWithInput(tree.path, text, 'hash-object', '-w', '--stdin');
    const made = await gitWithInput(tree.path, `100644 blob ${blob}\tlarge\n`, 'mktree');
    return await tree.git('commit-tree', '-m', 'Large', made);
  };
  assert.match(
    await push(await commitOf(1_200_000)),
    /The push has a file of 1\.1 MiB; the largest that may be pushed is 1 MiB\./,
  );
  assert.match(await push(await commitOf(6_000_000)), /unpack|exceeds maximum|hung up|RPC failed/);
  assert.deepEqual(await refsOf(project), ['refs/heads/main']);
  assert.equal(await sizeOf(), before);
});

test('lets a repository grow to its limit by pushes and commits, and shrink again', async () => {
  const small = await startTestService({ GANTRY_REPOSITORY_LIMIT: '1', GANTRY_FILE_LIMIT: '2' });
  try {
    const project = await seedProject(small);
    const url = repositoryUrl(small.url, project.full_path, rootToken);
    const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
    const first = await tree.git('rev-parse', 'main');
    await tree.git('push', '--quiet', url, `${first}:refs/heads/main`, `${first}:refs/heads/spare`);
    const commit = async (path: string, content: string) => {
      const action = { action: 'create', file_path: path, content };
      const json = { branch: 'main', commit_message: path, actions: [action] };
      const line = `POST /projects/${project.id}/repository/commits`;
      const { status, body } = await small.api(line, { json });
      return [status, body.message];
    };
    assert.equal((await commit('some', noise(1_000_000)))[0], 201);
    const limit =
      /with it the repository exceeds its size limit of 1 MiB by [\d.]+ (?:KiB|MiB)\. Please contact/;
    const [status, message] = await commit('more', noise(1_000_000));
    assert.equal(status, 400);
    assert.match(message, limit);
    assert.deepEqual(await commit('large', noise(3_000_000)), [
      400,
      'The commit has a file of 2.9 MiB; the largest that may be pushed is 2 MiB.',
    ]);
    const large = await gitWithInput(tree.path, noise(1_600_000), 'hash-object', '-w', '--stdin');
    const made = await gitWithInput(tree.path, `100644 blob ${large}\tlarge\n`, 'mktree');
    const id = await tree.git('commit-tree', '-m', 'Large', made);
    const refused = await tryGit(tree.path, ['push', url, `${id}:refs/heads/large`]);
    assert.match(refused.stderr, limit);
    assert.match(refused.stderr, /remote: The push was rejected/);
    const spared = await tryGit(tree.path, ['push', url, ':refs/heads/spare']);
    assert.equal(spared.code, 0, spared.stderr);
  } finally {
    await small.close();
  }
});

test('serves nothing unreachable, in any protocol version', async () => {
  const project = await withMain();
  const secret = await tree.git('commit-tree', '-p', 'main', '-m', 'Secret', 'main^{tree}');
  await tree.git('push', '--quiet', urlOf(project), `${secret}:refs/heads/leak`);
  await tree.git('push', '--quiet', urlOf(project), ':refs/heads/leak');
  const clone = join(folder, unique('clone'));
  await git(folder, 'clone', '--quiet', urlOf(project), clone);
  const fetchOf = async (id: string, version: string) =>
    await tryGit(clone, ['-c', `protocol.version=${version}`, 'fetch', '--quiet', 'origin', id]);
  for (const version of ['0', '1', '2']) {
    const { code, stderr } = await fetchOf(secret, version);
    assert.notEqual(code, 0, version);
    assert.match(stderr, /not our ref|unadvertised/, version);
  }
  // A commit that a branch reaches is served.
  assert.equal((await fetchOf(await tree.git('rev-parse', 'main~1'), '2')).code, 0);
});

test('serves nothing that only a hidden ref keeps, and a merge request shows its own commits', async () => {
  const project = await withMain();
  const [hidden = '', shown = ''] = await Promise.all(
    ['Hidden', 'Shown'].map(
      async (message) => await tree.git('commit-tree', '-p', 'main', '-m', message, 'main^{tree}'),
    ),
  );
  const url = urlOf(project);
  await tree.git('push', '--quiet', url, `${hidden}:refs/heads/h`, `${shown}:refs/heads/s`);
  const zero = '0'.repeat(40);
  await (
    await repositoryOf(project)
  ).ask('refs.update', {
    updates: [
      { ref: `refs/keep-around/${hidden}`, old: zero, new: hidden },
      { ref: 'refs/merge-requests/1/head', old: zero, new: shown },
    ],
  });
  await tree.git('push', '--quiet', url, ':refs/heads/h', ':refs/heads/s');
  const clone = join(folder, unique('clone'));
  await git(folder, 'clone', '--quiet', url, clone);
  assert.match((await tryGit(clone, ['fetch', '--quiet', 'origin', hidden])).stderr, /not our ref/);
  await git(clone, 'fetch', '--quiet', 'origin', 'refs/merge-requests/1/head');
  assert.doesNotMatch(await git(folder, 'ls-remote', url), /keep-around/);
  assert.equal((await tryGit(tree.path, ['push', url, ':refs/merge-requests/1/head'])).code, 1);
});

test('serves no blob of a deleted branch to a partial clone', async () => {
  const project = await withMain();
  const blob = await gitWithInput(tree.path, 'secret file\n', 'hash-object', '-w', '--stdin');
  const made = await gitWithInput(tree.path, `100644 blob ${blob}\tsecret\n`, 'mktree');
  const commit = await tree.git('commit-tree', '-m', 'Secret', made);
  await tree.git('push', '--quiet', urlOf(project), `${commit}:refs/heads/leak`);
  await tree.git('push', '--quiet', urlOf(project), ':refs/heads/leak');
  const clone = join(folder, unique('clone'));
  await git(folder, 'clone', '--quiet', '--filter=blob:none', urlOf(project), clone);
  assert.match((await tryGit(clone, ['fetch', '--quiet', 'origin', blob])).stderr, /not our ref/);
});
