/** Fetches with a job token: the job's own project, projects that allow it, and public ones. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { hashToken, generateTokenText } from '../../src/core/access/credentials/token_text.ts';
import { ensurePipelineRef } from '../../src/ci/pipelines/creation/persistent_ref.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type WorkTree, git, newWorkTree, tryGit } from '../support/repositories/git.ts';
import { seedPipeline, setJob } from '../support/ci/jobs.ts';
import { type SeededProject, seedGroup, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const running = async (project_id: number, user: number) => {
  const sha = await seedCommit(gantry, project_id, { 'a.txt': randomBytes(4).toString('hex') });
  const file = 'build: { script: make }\n';
  const pipeline = await seedPipeline(gantry, { project: project_id, file, user, sha });
  const token = generateTokenText(randomBytes, 'glcbt');
  const job = pipeline.jobs['build'] ?? 0;
  await setJob(gantry, job, { status: 'running', token_hash: hashToken(token) });
  return { token, job, sha, pipeline: pipeline.id };
};

const ask = async (
  { full_path }: SeededProject,
  service: 'git-upload-pack' | 'git-receive-pack',
  password: string,
  login = 'gitlab-ci-token',
) => {
  const authorization = `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`;
  const url = `${gantry.url}/${full_path}.git/info/refs?service=${service}`;
  const response = await fetch(url, { headers: { authorization } });
  return { status: response.status, text: await response.text() };
};

const fetches = async (project: SeededProject, token: string, login?: string): Promise<number> =>
  (await ask(project, 'git-upload-pack', token, login)).status;
const pushes = async (project: SeededProject, token: string): Promise<number> =>
  (await ask(project, 'git-receive-pack', token)).status;

const places = async (owner: number) => {
  const group = await seedGroup(gantry, { owner });
  return {
    private: await seedProject(gantry, { namespace: group.id, visibility: 'private' }),
    internal: await seedProject(gantry, { namespace: group.id, visibility: 'internal' }),
    public: await seedProject(gantry, { namespace: group.id, visibility: 'public' }),
  };
};

test('lets a job fetch from its own project, as any user, and push nowhere', async () => {
  const owner = await seedUser(gantry);
  const own = await places(owner.id);
  const other = await places(owner.id);
  for (const user of [owner.id, 1]) {
    const { token } = await running(own.private.id, user);
    assert.deepEqual([await fetches(own.private, token), await pushes(own.private, token)], [200, 403]);
    for (const project of [own.internal, other.private, other.internal]) {
      assert.deepEqual([await fetches(project, token), await pushes(project, token)], [404, 404]);
    }
    for (const project of [own.public, other.public]) {
      assert.deepEqual([await fetches(project, token), await pushes(project, token)], [200, 403]);
    }
  }
  assert.deepEqual([await fetches(own.private, rootToken), await pushes(own.private, rootToken)], [200, 200]);
});

test('lets a job clone with git and refuses its push', async () => {
  const owner = await seedUser(gantry);
  const { private: project } = await places(owner.id);
  const { token, sha } = await running(project.id, owner.id);
  const url = new URL(`${gantry.url}/${project.full_path}.git`);
  url.username = 'gitlab-ci-token';
  url.password = token;
  const clone = `${tree.path}/clone`;
  await git(tree.path, 'clone', '--quiet', url.href, clone);
  assert.equal((await git(clone, 'rev-parse', 'HEAD')).trim(), sha);
  const pushed = await tryGit(clone, ['push', 'origin', 'HEAD:refs/heads/other']);
  assert.notEqual(pushed.code, 0);
  assert.match(pushed.stderr, /not allowed to push|403/);
});

test('refuses the token once the job has ended, its user is blocked or cannot read the code', async () => {
  const owner = await seedUser(gantry);
  const { private: project } = await places(owner.id);
  const member = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 30 });
  const { token, job } = await running(project.id, member.id);
  assert.equal(await fetches(project, token), 200);
  await setJob(gantry, job, { status: 'canceling' });
  assert.equal(await fetches(project, token), 200);
  for (const status of ['success', 'failed', 'canceled', 'pending'] as const) {
    await setJob(gantry, job, { status });
    assert.equal(await fetches(project, token), 401, status);
  }
  await setJob(gantry, job, { status: 'running' });
  await gantry.api(`PUT /projects/${project.id}/members/${member.id}`, { json: { access_level: 10 } });
  assert.equal(await fetches(project, token), 403);
  await gantry.api(`DELETE /projects/${project.id}/members/${member.id}`);
  assert.equal(await fetches(project, token), 404);
  await gantry.api(`POST /users/${member.id}/block`);
  assert.equal(await fetches(project, token), 401);
});

test('refuses the token with another user name, and a wrong token', async () => {
  const owner = await seedUser(gantry);
  const { public: project } = await places(owner.id);
  const { token } = await running(project.id, owner.id);
  assert.equal(await fetches(project, token, owner.username), 401);
  assert.equal(await fetches(project, `${token}x`), 401);
  assert.equal(await fetches(project, hashToken(token)), 401);
});

test('lets only jobs fetch the refs of pipelines', async () => {
  const owner = await seedUser(gantry);
  const { private: project } = await places(owner.id);
  const { token, pipeline, sha } = await running(project.id, owner.id);
  await ensurePipelineRef(gantry.service.platform, { id: pipeline, project_id: project.id, sha });
  const listed = async (password: string): Promise<boolean> => {
    const { text } = await ask(project, 'git-upload-pack', password);
    return text.includes(`refs/pipelines/${pipeline}`);
  };
  assert.deepEqual([await listed(token), await listed(owner.token)], [true, false]);
});

test('refuses jobs every other git request: pushes, LFS and other paths of the project', async () => {
  const owner = await seedUser(gantry);
  const own = await places(owner.id);
  const other = await places(owner.id);
  const { token } = await running(own.private.id, owner.id);
  const authorization = `Basic ${Buffer.from(`gitlab-ci-token:${token}`).toString('base64')}`;
  const statusOf = async (path: string, method = 'GET'): Promise<number> => {
    const { status, body } = await fetch(`${gantry.url}/${path}`, {
      method,
      headers: { authorization, accept: 'application/vnd.git-lfs+json' },
      ...(method === 'POST' && { body: '{"operation":"upload","objects":[]}' }),
      redirect: 'manual',
    });
    await body?.cancel();
    return status;
  };
  const [mine, foreign] = [own.private.full_path, other.internal.full_path];
  for (const path of [`${mine}.git/HEAD`, `${mine}.git/objects/info/packs`, `${mine}.git/config`]) {
    assert.ok([403, 404].includes(await statusOf(path)), path);
  }
  for (const path of [mine, foreign]) {
    for (const lfs of ['info/lfs/objects/batch', 'info/lfs/locks', 'git-receive-pack']) {
      const status = await statusOf(`${path}.git/${lfs}`, 'POST');
      assert.ok(status >= 400 && status < 500, `${path} ${lfs}: ${status}`);
    }
  }
  const ways = [
    `${mine}.git/../../${foreign}.git`,
    `${mine}%2F..%2F..%2F${foreign}.git`,
    `${foreign.toUpperCase()}.git`,
    `/${foreign}.git`,
    `${mine}/../../${foreign}.git`,
  ];
  for (const way of ways) {
    const status = await statusOf(`${way}/info/refs?service=git-upload-pack`);
    assert.ok(status >= 300 && status < 500, `${way}: ${status}`);
  }
});

test('does not fetch a submodule from a project that does not allow the job', async () => {
  const owner = await seedUser(gantry);
  const own = await places(owner.id);
  const other = await places(owner.id);
  await seedCommit(gantry, other.public.id, { 'inner.txt': 'inner' });
  const { token } = await running(own.private.id, owner.id);
  const url = new URL(`${gantry.url}/${other.internal.full_path}.git`);
  url.username = 'gitlab-ci-token';
  url.password = token;
  const refused = await tryGit(tree.path, ['clone', '--quiet', url.href, `${tree.path}/refused`]);
  assert.notEqual(refused.code, 0);
  // Git fetches public repositories without credentials.
  const open = await tryGit(tree.path, [
    'clone',
    '--quiet',
    `${gantry.url}/${other.public.full_path}.git`,
    `${tree.path}/open`,
  ]);
  assert.equal(open.code, 0, open.stderr);
});

const letIn = async (project: SeededProject, id: number): Promise<void> => {
  const { status } = await gantry.api(`POST /projects/${project.id}/job_token_scope/allowlist`, {
    json: { target_project_id: id },
  });
  assert.equal(status, 201);
};

test('clones submodules of a project that allows the job, within the rights of its user', async () => {
  const owner = await seedUser(gantry);
  const { private: project } = await places(owner.id);
  const library = await seedProject(gantry, { visibility: 'private' });
  const inner = await seedCommit(gantry, library.id, { 'inner.txt': 'inner' });
  await letIn(library, project.id);
  const work = await newWorkTree();
  const withToken = (path: string, name: string, token: string): string => {
    const url = new URL(`${gantry.url}/${path}.git`);
    url.username = name;
    url.password = token;
    return url.href;
  };
  await work.git('remote', 'add', 'origin', withToken(project.full_path, 'oauth2', owner.token));
  await work.commit('A submodule', {
    '.gitmodules': `[submodule "lib"]\n\tpath = lib\n\turl = ../../${library.full_path}.git\n`,
  });
  await work.git('update-index', '--add', '--cacheinfo', `160000,${inner},lib`);
  await work.git('commit', '--quiet', '--amend', '--no-edit');
  await work.git('push', '--quiet', 'origin', 'HEAD:refs/heads/sub');
  const { token } = await running(project.id, owner.id);
  const clone = async (to: string) =>
    await tryGit(tree.path, [
      'clone',
      '--quiet',
      '--recurse-submodules',
      '--branch',
      'sub',
      withToken(project.full_path, 'gitlab-ci-token', token),
      `${tree.path}/${to}`,
    ]);
  assert.notEqual((await clone('without')).code, 0);
  await seedMember(gantry, { user: owner.id, project: library.id, access_level: 20 });
  const whole = await clone('with');
  assert.equal(whole.code, 0, whole.stderr);
  assert.equal(await git(`${tree.path}/with/lib`, 'rev-parse', 'HEAD'), inner);
  assert.equal(await pushes(library, token), 403);
  const removed = await gantry.api(`DELETE /projects/${library.id}/job_token_scope/allowlist/${project.id}`);
  assert.equal(removed.status, 204);
  assert.notEqual((await clone('again')).code, 0);
  await work.remove();
});

test('keeps pipeline refs for jobs of the same project, whatever projects are allowed', async () => {
  const owner = await seedUser(gantry);
  const { private: project } = await places(owner.id);
  const library = await seedProject(gantry, { visibility: 'private', owner: owner.id });
  await letIn(library, project.id);
  const theirs = await running(library.id, owner.id);
  const ofLibrary = await gantry.service.platform.store.db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', theirs.pipeline)
    .executeTakeFirstOrThrow();
  await ensurePipelineRef(gantry.service.platform, ofLibrary);
  const { token } = await running(project.id, owner.id);
  const listed = async (password: string): Promise<boolean> => {
    const { status, text } = await ask(library, 'git-upload-pack', password);
    assert.equal(status, 200);
    return text.includes(`refs/pipelines/${theirs.pipeline}`);
  };
  assert.deepEqual([await listed(theirs.token), await listed(token)], [true, false]);
});
