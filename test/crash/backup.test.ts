/**
 * Makes backups under load and kills some of them in the middle. Restored, each has every write that was acknowledged
 * before it began, its refs are those that its database knows, and git finds no damage.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { git, tryGit } from '../support/repositories/git.ts';
import { type Peer, type PeerJob, makePeer } from '../support/ci/fake_runner.ts';
import { times } from '../support/run/sample.ts';
import { untilEmpty } from './git_operations.ts';
import { findFaults } from './invariants.ts';
import { type Place, type Running, call, engine, newPlace, token } from './process.ts';

const rounds = times(20, 2);
/** Milliseconds of writes before each backup. */
const writesBefore = 500;

let place: Place;
let running: Running;
let folder: string;
/**
 * Acknowledged writes: titles of issues, commits on main in order, branches with their commits, addresses of uploads
 * with their texts, and the log of a job.
 */
const ledger = {
  issues: [] as string[],
  commits: [] as string[],
  branches: new Map<string, string>(),
  uploads: new Map<string, string>(),
  log: '',
};

let isOver = false;
/** Resolved while a backup is made: nothing is learned from writes beside the checks of a restored one. */
let loading = Promise.withResolvers<void>();
let load: Promise<unknown> = Promise.resolve();
let number = 0;
const nextName = (): string => `n${(number += 1)}`;

const commits = 'POST /projects/root%2Fload/repository/commits';

const commit = async (branch: string, more: object = {}) => {
  const actions = [{ action: 'create', file_path: nextName(), content: branch }];
  const answer = await call(running.url, commits, { branch, commit_message: 'More', actions, ...more });
  return answer.status === 201 ? String(answer.body.id) : null;
};

const upload = async (text: string): Promise<string | null> => {
  const body = new FormData();
  body.set('file', new Blob([text]), 'a.txt');
  const url = `${running.url}/api/v4/projects/root%2Fload/uploads`;
  const response = await fetch(url, { method: 'POST', headers: { 'private-token': token }, body });
  return response.status === 201 ? ((await response.json()) as { url: string }).url : null;
};

let runner: Peer;
let job: PeerJob;

/** Starts a job whose log grows. */
const startJob = async (): Promise<void> => {
  const actions = [
    { action: 'create', file_path: '.gitlab-ci.yml', content: 'work: { script: [sleep 3600] }' },
  ];
  const made = await call(running.url, commits, {
    branch: 'ci',
    start_branch: 'main',
    commit_message: 'CI',
    actions,
  });
  assert.equal(made.status, 201);
  const { body } = await call(running.url, 'POST /user/runners', { runner_type: 'instance_type' });
  runner = makePeer(running, { token: String(body.token) });
  job = await runner.take();
};

/** Each writes alone to its own refs, so that what is acknowledged stays. */
const writers: (() => Promise<void>)[] = [
  async () => {
    const title = nextName();
    const { status } = await call(running.url, 'POST /projects/root%2Fload/issues', { title });
    if (status === 201) ledger.issues.push(title);
  },
  async () => {
    const id = await commit('main');
    if (id !== null) ledger.commits.push(id);
  },
  async () => {
    const branch = nextName();
    const id = await commit(branch, { start_branch: 'main' });
    if (id !== null) ledger.branches.set(branch, id);
  },
  async () => {
    const text = nextName();
    const address = await upload(text);
    if (address !== null) ledger.uploads.set(address, text);
  },
  async () => {
    const line = `line ${nextName()}\n`;
    const { status } = await runner.trace(job, line);
    if (status === 202) ledger.log += line;
  },
  async () => {
    // A branch that goes back and forth: its commits are lost, and its name comes again.
    await commit('moving', { start_branch: 'main' });
    await commit('moving', { start_branch: 'main', force: true });
    await call(running.url, 'DELETE /projects/root%2Fload/repository/branches/moving');
  },
];

const start = (line: string, env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, ['bin/gantry', ...line.split(' ')], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const run = async (line: string, env: Record<string, string>): Promise<void> => {
  const child = start(line, env);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => void (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, `${line}: ${output}`);
};

const countObjects = (): number => globSync('objects/*/*', { cwd: folder }).length;
const countBackups = (): number => globSync('backups/*.json', { cwd: folder }).length;

/** Kills a backup once it has added something. */
const killBackup = async (): Promise<void> => {
  const [objects, backups] = [countObjects(), countBackups()];
  const child = start(`backup create --to ${folder}`, place.env);
  const ended = once(child, 'exit');
  while (child.exitCode === null && countObjects() === objects) await wait(5);
  await wait(Math.random() * 50);
  child.kill('SIGKILL');
  await ended;
  if (child.signalCode === 'SIGKILL') assert.equal(countBackups(), backups, 'a killed backup counts');
};

const repositoryOf = (data: string): string => {
  const [config = ''] = globSync(join(data, 'repositories/**/*.git/config'));
  return join(config, '..');
};

/** Every branch has the commit that the database learned last. */
const checkRefs = async (copy: Place): Promise<void> => {
  const format = '--format=%(objectname) %(refname)';
  const refs = (await git(repositoryOf(copy.data), 'for-each-ref', format, 'refs/heads/')).split('\n');
  const events = await copy.query("select data from events where kind like 'ref.%' order by id");
  const known = new Map<string, string>();
  for (const { data } of events) {
    const { ref, after } = JSON.parse(String(data)) as { ref: string; after: string };
    known.set(ref, after);
  }
  const open = await copy.query('select updates from git_operations');
  const moving = new Set(
    open.flatMap(({ updates }) => (JSON.parse(String(updates)) as { ref: string }[]).map(({ ref }) => ref)),
  );
  const wanted = [...known].filter(([ref, id]) => !/^0+$/.test(id) && !moving.has(ref));
  assert.deepEqual(
    refs.filter((line) => !moving.has(line.slice(41))).toSorted(),
    wanted.map(([ref, id]) => `${id} ${ref}`).toSorted(),
  );
};

type Ledger = {
  issues: string[];
  commits: string[];
  branches: string[];
  uploads: [string, string][];
  log: string;
};

const checkLedger = async (copy: Place, acknowledged: Ledger): Promise<void> => {
  const titles = new Set((await copy.query('select title from issues')).map(({ title }) => title));
  assert.deepEqual(
    acknowledged.issues.filter((title) => !titles.has(title)),
    [],
  );
  const path = repositoryOf(copy.data);
  const main = new Set((await git(path, 'rev-list', 'refs/heads/main')).split('\n'));
  assert.deepEqual(
    acknowledged.commits.filter((id) => !main.has(id)),
    [],
  );
  const refs = new Set(
    (await git(path, 'for-each-ref', '--format=%(refname:short) %(objectname)')).split('\n'),
  );
  assert.deepEqual(
    acknowledged.branches.filter((line) => !refs.has(line)),
    [],
  );
};

/** Every acknowledged upload and line of the log is served. */
const checkBytes = async (url: string, { uploads, log }: Ledger): Promise<void> => {
  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${url}/api/v4/projects/root%2Fload${path}`, {
      headers: { 'private-token': token },
    });
    return response.status === 200 ? await response.text() : `status ${response.status}`;
  };
  for (const [address, text] of uploads) assert.equal(await read(address), text, address);
  const kept = await read(`/jobs/${job.id}/trace`);
  assert.ok(kept.startsWith(log), `the log lacks lines: ${kept.length} bytes of ${log.length}`);
};

const checkGit = async ({ data }: Place): Promise<void> => {
  const { code, stdout, stderr } = await tryGit(repositoryOf(data), ['fsck', '--full', '--no-dangling']);
  assert.equal(code, 0, stdout + stderr);
};

/** Kills a restore once it has begun to write. */
const killRestore = async ({ data, env }: Place): Promise<void> => {
  const child = start(`backup restore ${folder}`, env);
  const ended = once(child, 'exit');
  while (child.exitCode === null && !existsSync(join(data, 'restoring'))) await wait(5);
  await wait(Math.random() * 300);
  child.kill('SIGKILL');
  await ended;
};

/** Restores the newest backup, compares it, and serves it. */
const checkRestored = async (acknowledged: Ledger, isInterrupted: boolean): Promise<void> => {
  const copy = newPlace();
  try {
    if (isInterrupted) await killRestore(copy);
    const isLeft = !isInterrupted || existsSync(join(copy.data, 'restoring'));
    if (isLeft) await run(`backup restore ${folder}`, copy.env);
    await checkRefs(copy);
    await checkLedger(copy, acknowledged);
    await checkGit(copy);
    const service = await copy.start();
    await checkBytes(service.url, acknowledged);
    await untilEmpty(copy, 'an operation', "select * from git_operations where process <> 'dropped'");
    assert.deepEqual(await findFaults(copy, engine), []);
    service.signal('SIGKILL');
    await service.exit;
  } finally {
    await copy.remove();
  }
};

before(async () => {
  place = newPlace();
  folder = `${place.data}-backups`;
  running = await place.start();
  assert.equal((await call(running.url, 'POST /projects', { name: 'load' })).status, 201);
  await commit('main');
  await startJob();
  load = Promise.all(
    writers.map(async (write) => {
      while (!isOver) {
        await loading.promise;
        await write().catch(() => undefined);
        await wait(20);
      }
    }),
  );
});

after(async () => {
  isOver = true;
  loading.resolve();
  await load;
  running.signal('SIGKILL');
  await running.exit;
  runner.close();
  await place.remove();
});

/** Lets the writers write while a backup is made. Returns what was acknowledged before it began. */
const backUpUnderLoad = async (isKilledBefore: boolean): Promise<Ledger> => {
  loading.resolve();
  await wait(writesBefore);
  if (isKilledBefore) await killBackup();
  const branches = [...ledger.branches].map(([name, id]) => `${name} ${id}`);
  const { issues, commits: made, uploads, log } = ledger;
  const acknowledged = { issues: [...issues], commits: [...made], branches, uploads: [...uploads], log };
  await run(`backup create --to ${folder}`, place.env);
  loading = Promise.withResolvers();
  return acknowledged;
};

describe('a backup under load', () => {
  for (let round = 1; round <= rounds; round += 1)
    test(`is whole in round ${round}`, async () => {
      await checkRestored(await backUpUnderLoad(round % 2 === 0), round % 2 === 1);
    });

  test('the backups ran during writes of each kind', () => {
    assert.ok(ledger.issues.length > 0 && ledger.commits.length > 0 && ledger.branches.size > 0);
    assert.ok(ledger.uploads.size > 0 && ledger.log.length > 0);
  });
});
