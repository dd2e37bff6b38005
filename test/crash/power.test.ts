/**
 * Cuts the power of the disk under repositories and database repeatedly during pushes, commits, merges, issue writes
 * and jobs. After each cut, acknowledged writes and the logs of finished jobs exist, and git and the database agree.
 */
import assert from 'node:assert/strict';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { newDisk, type Disk } from '../support/machine/disk_image.ts';
import { git, newWorkTree, repositoryUrl, tryGit, type WorkTree } from '../support/repositories/git.ts';
import { type FinishedLog, checkLogs, finishJob, prepareJobs } from './finished_logs.ts';
import { findFaults } from './invariants.ts';
import { times } from '../support/run/sample.ts';
import { type Place, type Running, call, engine, newPlace, token } from './process.ts';

const cuts = times(20, 3);
const requestsEachRound = 6;
const projects = ['committed', 'pushed', 'merged'] as const;

/** Writes that the service acknowledged. */
type Ledger = {
  issues: string[];
  /** The files of `committed` on main, in order. */
  commits: string[];
  /** The last acknowledged push of `pushed`; later ones may exist or not. */
  push: string | null;
  tries: string[];
  pushes: string[];
  merges: number[];
  /** `name sha` of branches created from main of `committed`. */
  branches: string[];
  logs: FinishedLog[];
};

const ledger: Ledger = {
  issues: [],
  commits: [],
  push: null,
  tries: [],
  pushes: [],
  merges: [],
  branches: [],
  logs: [],
};

/** Kinds of work of which none was acknowledged yet. */
const nothingOf = (): string[] => {
  const { commits, merges, issues, pushes, branches, logs } = ledger;
  const counts = Object.entries({ commits, merges, issues, pushes, branches, logs });
  return counts.filter(([, { length }]) => length === 0).map(([what]) => what);
};

let place: Place;
let disk: Disk | string;
let tree: WorkTree;
let clone: string;
let runner: string;
let running: Running | undefined;

const pathOf = (name: (typeof projects)[number]): string => `/projects/root%2F${name}`;

const ok = async (url: string, line: string, json?: object) => {
  const { status, body } = await call(url, line, json);
  assert.ok(status < 300, `${line}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/**
 * Whether the disk has power. An answer that arrives after a cut counts for nothing: where the power is gone, nobody
 * gets one. The kernel ends a sync that meets the cut in any way.
 */
let hasPower = true;

/** null: refused, the service was gone, or the power was. */
const attempt = async (url: string, line: string, json?: object) => {
  const answer = await call(url, line, json).catch(() => null);
  return hasPower && answer !== null && answer.status < 300 ? answer.body : null;
};

const commitOf = (branch: string, file_path: string, from?: string) => ({
  branch,
  ...(from !== undefined && { start_branch: from }),
  commit_message: `Add ${file_path}`,
  actions: [{ action: 'create', file_path, content: file_path }],
});

let number = 0;
const nextName = (): string => `file-${(number += 1)}`;

const newRequest = async (url: string): Promise<number> => {
  const branch = nextName();
  await ok(url, `POST ${pathOf('merged')}/repository/commits`, commitOf(branch, branch, 'main'));
  const { iid } = await ok(url, `POST ${pathOf('merged')}/merge_requests`, {
    source_branch: branch,
    target_branch: 'main',
    title: branch,
  });
  return iid;
};

/** Each loop repeats its work until the service is gone. */
const workers: ((url: string, iids: number[]) => Promise<boolean>)[] = [
  async (url) => {
    const title = nextName();
    const made = await attempt(url, `POST ${pathOf('committed')}/issues`, { title });
    if (made !== null) ledger.issues.push(title);
    return made !== null;
  },
  async (url) => {
    const made = await attempt(
      url,
      `POST ${pathOf('committed')}/repository/commits`,
      commitOf('main', nextName()),
    );
    if (made !== null) ledger.commits.push(made.id);
    return made !== null;
  },
  async (url) => {
    const branch = nextName();
    const attributes = { branch, ref: 'main' };
    const made = await attempt(url, `POST ${pathOf('committed')}/repository/branches`, attributes);
    // Without a commit: the power was cut before the service read it for its answer.
    if (made !== null && made.commit !== null) ledger.branches.push(`${branch} ${made.commit.id}`);
    return made !== null;
  },
  async (url) => {
    await git(clone, 'commit', '--quiet', '--allow-empty', '--message', nextName());
    const sha = await git(clone, 'rev-parse', 'HEAD');
    ledger.tries.push(sha);
    const to = repositoryUrl(url, 'root/pushed', token);
    const { code } = await tryGit(clone, ['push', '--quiet', to, 'HEAD:main']);
    if (code === 0 && hasPower) {
      [ledger.push, ledger.tries] = [sha, []];
      ledger.pushes.push(sha);
    }
    return code === 0;
  },
  async (url, iids) => {
    const iid = iids.pop();
    if (iid === undefined) return false;
    const merged = await attempt(url, `PUT ${pathOf('merged')}/merge_requests/${iid}/merge`);
    if (merged !== null) ledger.merges.push(iid);
    return merged !== null;
  },
  async (url) => {
    const finished = await finishJob(url, runner);
    if (finished !== null && hasPower) ledger.logs.push(finished);
    return finished !== null;
  },
];

const untilNoOperation = async (): Promise<void> => {
  const query = "select * from git_operations where process <> 'dropped'";
  for (let tries = 0; tries < 300; tries += 1) {
    if ((await place.query(query)).length === 0) return;
    await wait(100);
  }
  assert.fail(`operations were not ended: ${JSON.stringify(await place.query(query))}`);
};

const historyOf = async (repositoryPath: string): Promise<Set<string>> =>
  new Set((await git(repositoryPath, 'rev-list', 'refs/heads/main')).split('\n'));

/** The repository of a project; its folder is named by a hash. */
const repositoryWith = async (sha: string): Promise<string> => {
  for (const config of globSync(join(place.data, '**/*.git/config'))) {
    const path = join(config, '..');
    if ((await tryGit(path, ['cat-file', '-e', sha])).code === 0) return path;
  }
  return assert.fail(`${sha} is in no repository`);
};

/** Whether all of these are on main, in the repository that has the last of them. */
const checkMain = async (shas: readonly string[]): Promise<void> => {
  const last = shas.at(-1);
  if (last === undefined) return;
  const history = await historyOf(await repositoryWith(last));
  assert.deepEqual(
    shas.filter((sha) => !history.has(sha)),
    [],
  );
};

const checkBranches = async (): Promise<void> => {
  const [last] = ledger.branches;
  if (last === undefined) return;
  const path = await repositoryWith(last.slice(-40));
  const format = '--format=%(refname:short) %(objectname)';
  const there = new Set((await git(path, 'for-each-ref', format, 'refs/heads/')).split('\n'));
  assert.deepEqual(
    ledger.branches.filter((branch) => !there.has(branch)),
    [],
  );
};

const checkPush = async (url: string): Promise<void> => {
  if (ledger.push === null) return;
  const { commit } = await ok(url, `GET ${pathOf('pushed')}/repository/branches/main`);
  assert.ok([ledger.push, ...ledger.tries].includes(commit.id), 'a push that was acknowledged is gone');
};

const checkMerges = async (): Promise<void> => {
  const rows = await place.query('select iid, state, merge_commit_sha from merge_requests');
  const byIid = new Map(rows.map((row) => [Number(row['iid']), row]));
  const merged = ledger.merges.map((iid) => byIid.get(iid));
  for (const request of merged) assert.equal(request?.['state'], 'merged');
  await checkMain(merged.map((request) => String(request?.['merge_commit_sha'])));
};

const checkIssues = async (): Promise<void> => {
  const rows = await place.query('select title from issues');
  const there = new Set(rows.map(({ title }) => title));
  assert.deepEqual(
    ledger.issues.filter((title) => !there.has(title)),
    [],
  );
};

const checkRepositories = async (): Promise<void> => {
  for (const config of globSync(join(place.data, '**/*.git/config'))) {
    const { code, stdout, stderr } = await tryGit(join(config, '..'), ['fsck', '--full', '--no-dangling']);
    assert.equal(code, 0, stdout + stderr);
  }
};

const checkAll = async (url: string): Promise<void> => {
  await untilNoOperation();
  await checkIssues();
  await checkMain(ledger.commits);
  await checkBranches();
  await checkPush(url);
  await checkMerges();
  await checkLogs(url, ledger.logs);
  await checkRepositories();
  assert.deepEqual(await findFaults(place, engine), []);
};

const prepare = async (url: string): Promise<void> => {
  for (const name of projects) {
    await ok(url, 'POST /projects', { name });
    await ok(url, `POST ${pathOf(name)}/repository/commits`, commitOf('main', nextName()));
  }
  runner = await prepareJobs(url);
  clone = join(tree.path, 'pushed');
  await git(tree.path, 'clone', '--quiet', repositoryUrl(url, 'root/pushed', token), clone);
};

/** Resets the clone to the state of the service, as after a lost push. */
const followService = async (url: string): Promise<void> => {
  await git(clone, 'fetch', '--quiet', repositoryUrl(url, 'root/pushed', token), 'main');
  await git(clone, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
  [ledger.push, ledger.tries] = [await git(clone, 'rev-parse', 'HEAD'), []];
};

const round = async ({ url, signal, exit }: Running, { cutPower, comeBack }: Disk): Promise<void> => {
  const iids = await Promise.all(
    Array.from({ length: requestsEachRound }, async () => await newRequest(url)),
  );
  let isOver = false;
  hasPower = true;
  const all = workers.map(async (work) => {
    while (!isOver && (await work(url, iids)));
  });
  await wait(100 + Math.random() * 900);
  // A slow machine may need longer for the first of each kind.
  for (let tries = 0; tries < 100 && nothingOf().length > 0; tries += 1) await wait(100);
  hasPower = false;
  try {
    cutPower();
  } finally {
    isOver = true;
    signal('SIGKILL');
    await Promise.all([...all, exit]);
  }
  await comeBack();
};

before(async () => {
  place = newPlace();
  mkdirSync(place.data, { recursive: true, mode: 0o700 });
  disk = newDisk(place.data, 512);
  tree = await newWorkTree();
});

after(async () => {
  running?.signal('SIGKILL');
  await running?.exit;
  if (typeof disk !== 'string') await disk.remove();
  await tree.remove();
  await place.remove();
});

describe('acknowledged writes', () => {
  for (let cut = 1; cut <= cuts; cut += 1)
    test(`survive power cut ${cut}`, async (t) => {
      if (typeof disk === 'string') {
        t.skip(disk);
        return;
      }
      if (running === undefined) await prepare((running = await place.start()).url);
      await round(running, disk);
      running = await place.start();
      await checkAll(running.url);
      await followService(running.url);
    });

  test('include at least one of each kind', (t) => {
    if (typeof disk === 'string') {
      t.skip(disk);
      return;
    }
    assert.deepEqual(nothingOf(), []);
  });
});
