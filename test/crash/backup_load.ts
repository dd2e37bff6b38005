/**
 * Writes of every kind to a project while backups are made, and checks that a restored backup has what was acknowledged
 * before it began.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Peer, type PeerJob, makePeer } from '../support/ci/fake_runner.ts';
import { type WorkTree, git, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type Place, call, token } from './process.ts';

/** Acknowledged writes. */
export type Acknowledged = {
  /** Titles. */
  issues: string[];
  /** Commits on main, in order. */
  commits: string[];
  /** Commits of the branch `pushed`, in order. */
  pushes: string[];
  /** Commits by branch. */
  branches: Map<string, string>;
  /** Texts by address. */
  uploads: Map<string, string>;
  /** Texts by the job. */
  artifacts: Map<number, string>;
  /** Of the running job. */
  log: string;
};

export type BackupLoad = {
  /** The project's path. */
  project: string;
  /** The job whose log grows. */
  job: number;
  /** Lets the writers write until `pause`. */
  resume: () => void;
  pause: () => void;
  /** Returns a copy of what was acknowledged so far. */
  acknowledged: () => Acknowledged;
  end: () => Promise<void>;
};

type Writing = {
  url: string;
  project: string;
  ledger: Acknowledged;
  nextName: () => string;
  runner: Peer;
  job: PeerJob;
  tree: WorkTree;
};

const newLedger = (): Acknowledged => ({
  issues: [],
  commits: [],
  pushes: [],
  branches: new Map(),
  uploads: new Map(),
  artifacts: new Map(),
  log: '',
});

const pathOf = (project: string): string => `/projects/${encodeURIComponent(project)}`;

type Repository = Pick<Writing, 'url' | 'project' | 'nextName'>;

/** Commits a new file to a branch. @returns the commit; null if it was refused */
const commit = async ({ url, project, nextName }: Repository, branch: string, more: object = {}) => {
  const actions = [{ action: 'create', file_path: nextName(), content: branch }];
  const json = { branch, commit_message: 'More', actions, ...more };
  const answer = await call(url, `POST ${pathOf(project)}/repository/commits`, json);
  return answer.status === 201 ? String(answer.body.id) : null;
};

const upload = async ({ url, project }: Repository, text: string): Promise<string | null> => {
  const body = new FormData();
  body.set('file', new Blob([text]), 'a.txt');
  const address = `${url}/api/v4${pathOf(project)}/uploads`;
  const response = await fetch(address, { method: 'POST', headers: { 'private-token': token }, body });
  return response.status === 201 ? ((await response.json()) as { url: string }).url : null;
};

const push = async ({ url, project, ledger, nextName, tree }: Writing): Promise<void> => {
  const id = await tree.commit('More', { [nextName()]: 'pushed' });
  const to = repositoryUrl(url, project, token);
  const { code } = await tryGit(tree.path, ['push', '--quiet', to, 'HEAD:refs/heads/pushed']);
  if (code === 0) ledger.pushes.push(id);
};

/** Runs a job that has artifacts. */
const sendArtifacts = async ({ url, project, ledger, nextName, runner }: Writing): Promise<void> => {
  await call(url, `POST ${pathOf(project)}/pipeline`, { ref: 'ci' });
  const job = await runner.take();
  const text = nextName();
  const options = { type: 'archive', format: 'raw', filename: 'artifacts.zip' };
  const { status } = await runner.upload(job, Buffer.from(text), options);
  if (status === 201) ledger.artifacts.set(job.id, text);
  await runner.finish(job);
};

/** Each writes alone to its own refs and jobs, so that what is acknowledged stays. */
const writers: ((writing: Writing) => Promise<void>)[] = [
  async ({ url, project, ledger, nextName }) => {
    const title = nextName();
    const { status } = await call(url, `POST ${pathOf(project)}/issues`, { title });
    if (status === 201) ledger.issues.push(title);
  },
  async (writing) => {
    const id = await commit(writing, 'main');
    if (id !== null) writing.ledger.commits.push(id);
  },
  async (writing) => {
    const branch = writing.nextName();
    const id = await commit(writing, branch, { start_branch: 'main' });
    if (id !== null) writing.ledger.branches.set(branch, id);
  },
  async (writing) => {
    const text = writing.nextName();
    const address = await upload(writing, text);
    if (address !== null) writing.ledger.uploads.set(address, text);
  },
  async ({ runner, job, ledger, nextName }) => {
    const line = `line ${nextName()}\n`;
    const { status } = await runner.trace(job, line);
    if (status === 202) ledger.log += line;
  },
  async (writing) => {
    // A branch that goes back and forth: its commits are lost, and its name comes again.
    await commit(writing, 'moving', { start_branch: 'main' });
    await commit(writing, 'moving', { start_branch: 'main', force: true });
    await call(writing.url, `DELETE ${pathOf(writing.project)}/repository/branches/moving`);
  },
  push,
  sendArtifacts,
];

/** Starts a job whose log grows. */
const startJob = async (repository: Repository): Promise<{ runner: Peer; job: PeerJob }> => {
  const { url, project } = repository;
  const content = 'work: { script: [sleep 3600], artifacts: { paths: [plank] } }';
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }];
  assert.ok((await commit(repository, 'ci', { start_branch: 'main', actions })) !== null);
  const id = (await call(url, `GET ${pathOf(project)}`)).body.id as number;
  const created = await call(url, 'POST /user/runners', { runner_type: 'project_type', project_id: id });
  const runner = makePeer({ url }, { token: String(created.body.token) });
  return { runner, job: await runner.take() };
};

/** Starts the writers, which wait for `resume`. The project has no commits yet. */
export const startBackupLoad = async (url: string, project: string): Promise<BackupLoad> => {
  let number = 0;
  const nextName = (): string => `n${(number += 1)}`;
  await commit({ url, project, nextName }, 'main');
  const { runner, job } = await startJob({ url, project, nextName });
  const writing: Writing = {
    url,
    project,
    ledger: newLedger(),
    nextName,
    runner,
    job,
    tree: await newWorkTree(),
  };
  let isOver = false;
  /** Resolved while a backup is made: nothing is learned from writes beside the checks of a restored one. */
  let loading = Promise.withResolvers<void>();
  const load = Promise.all(
    writers.map(async (write) => {
      while (!isOver) {
        await loading.promise;
        await write(writing).catch(() => undefined);
        await wait(20);
      }
    }),
  );
  return {
    project,
    job: job.id,
    resume: () => loading.resolve(),
    pause: () => void (loading = Promise.withResolvers()),
    acknowledged: () => structuredClone(writing.ledger),
    end: async () => {
      isOver = true;
      loading.resolve();
      await load;
      runner.close();
      await writing.tree.remove();
    },
  };
};

/** Asserts that there were writes of each kind. */
export const checkLoad = ({ acknowledged }: BackupLoad): void => {
  const { issues, commits, pushes, branches, uploads, artifacts, log } = acknowledged();
  const counts = [issues.length, commits.length, pushes.length, branches.size, uploads.size, artifacts.size];
  assert.ok(
    [...counts, log.length].every((count) => count > 0),
    `${counts.join(', ')}, ${log.length}`,
  );
};

type Copy = Pick<Place, 'query' | 'data'>;

type Restored = { id: number; repository: string };

/** Finds the project in a restored place, whose storages are folders. */
const findProject = async ({ query, data }: Copy, project: string): Promise<Restored> => {
  const rows = await query('select id, path, repository_path from projects');
  const row = rows.find(({ path }) => path === project.split('/').at(-1));
  const [config = ''] = globSync(join(data, 'repositories', '*', String(row?.['repository_path']), 'config'));
  return { id: Number(row?.['id']), repository: join(config, '..') };
};

/** Every branch has the commit that the database learned last. */
const checkRefs = async ({ query }: Copy, { id, repository }: Restored): Promise<void> => {
  const format = '--format=%(objectname) %(refname)';
  const refs = (await git(repository, 'for-each-ref', format, 'refs/heads/')).split('\n');
  const events = await query(
    `select data from events where project_id = ${id} and kind like 'ref.%' order by id`,
  );
  const known = new Map<string, string>();
  for (const { data } of events) {
    const { ref, after } = JSON.parse(String(data)) as { ref: string; after: string };
    known.set(ref, after);
  }
  const open = await query(`select updates from git_operations where project_id = ${id}`);
  const moving = new Set(
    open.flatMap(({ updates }) => (JSON.parse(String(updates)) as { ref: string }[]).map(({ ref }) => ref)),
  );
  const wanted = [...known].filter(([ref, commitId]) => !/^0+$/.test(commitId) && !moving.has(ref));
  assert.deepEqual(
    refs.filter((line) => !moving.has(line.slice(41))).toSorted(),
    wanted.map(([ref, commitId]) => `${commitId} ${ref}`).toSorted(),
  );
};

const listMissing = <T>(expected: readonly T[], found: readonly T[]): T[] => {
  const all = new Set(found);
  return expected.filter((one) => !all.has(one));
};

const checkRecords = async (
  { query }: Copy,
  { id, repository }: Restored,
  acknowledged: Acknowledged,
): Promise<void> => {
  const issues = await query(`select title from issues where project_id = ${id}`);
  assert.deepEqual(
    listMissing(
      acknowledged.issues,
      issues.map(({ title }) => title),
    ),
    [],
  );
  for (const [branch, commits] of [
    ['main', acknowledged.commits],
    ['pushed', acknowledged.pushes],
  ] as const) {
    if (commits.length === 0) continue;
    const found = (await git(repository, 'rev-list', `refs/heads/${branch}`)).split('\n');
    assert.deepEqual(listMissing(commits, found), [], branch);
  }
  const format = '--format=%(refname:short) %(objectname)';
  const refs = (await git(repository, 'for-each-ref', format)).split('\n');
  const branches = [...acknowledged.branches].map(([name, commitId]) => `${name} ${commitId}`);
  assert.deepEqual(listMissing(branches, refs), []);
};

/** Checks a restored backup before a service runs on it. */
export const checkCopy = async (copy: Copy, project: string, acknowledged: Acknowledged): Promise<void> => {
  const restored = await findProject(copy, project);
  await checkRefs(copy, restored);
  await checkRecords(copy, restored, acknowledged);
  const { code, stdout, stderr } = await tryGit(restored.repository, ['fsck', '--full', '--no-dangling']);
  assert.equal(code, 0, stdout + stderr);
};

/** Checks that a service on a restored backup serves every acknowledged upload, artifact and line of the log. */
export const checkBytes = async (
  url: string,
  { project, job }: Pick<BackupLoad, 'project' | 'job'>,
  { uploads, artifacts, log }: Acknowledged,
): Promise<void> => {
  const read = async (path: string): Promise<string> => {
    const address = `${url}/api/v4${pathOf(project)}${path}`;
    const response = await fetch(address, { headers: { 'private-token': token } });
    return response.status === 200 ? await response.text() : `status ${response.status}`;
  };
  for (const [address, text] of uploads) assert.equal(await read(address), text, address);
  for (const [id, text] of artifacts) assert.equal(await read(`/jobs/${id}/artifacts`), text, `job ${id}`);
  const kept = await read(`/jobs/${job}/trace`);
  assert.ok(kept.startsWith(log), `the log lacks lines: ${kept.length} bytes of ${log.length}`);
};
