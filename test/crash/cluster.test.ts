/**
 * Three services on one PostgreSQL, one bucket and two storages behind haproxy, under load: each part is killed in turn,
 * and nothing that was acknowledged is lost: issues, files, pushes, and jobs with their logs and artifacts. Requests fail
 * only where they need the part that is away, and where a killed service was answering them. In `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type KillablePostgres, startKillablePostgres } from '../support/databases/killable_postgres.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { type Cluster, type Part, startCluster } from './cluster.ts';
import { type Clients, makeProjectIn, startClients } from './cluster_clients.ts';
import { codeReads, issueReads, sendRequests } from './cluster_load.ts';
import { findFaults } from './invariants.ts';
import { type Ledger, type State, makeRandom, newLedger, runLoad, settle } from './ledger.ts';
import { call, engine, token } from './process.ts';
import { readIssues } from './read_issues.ts';

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;
const skip =
  engine === 'sqlite'
    ? 'a file serves one process'
    : !hasProxy
      ? 'haproxy is not installed'
      : !isWhole && 'only in test:all';

/** Writers of issues at once, each with one request after the other. */
const writers = 8;

/** Milliseconds of load before a part is killed, at least without it, and with it again. */
const spans = { before: 1_000, without: 2_500, again: 2_000 };
/** Milliseconds in which writes must go on without a part. */
const maxPause = 120_000;

let started: Cluster | undefined;
let clients: Clients | undefined;
let postgres: KillablePostgres | undefined;
before(async () => {
  if (skip !== false) return;
  postgres = await startKillablePostgres();
  started = await startCluster(postgres.url, { postgres });
});
after(async () => {
  clients?.abort();
  await started?.remove();
  await postgres?.stop();
});

const getCluster = (): Cluster => {
  assert.ok(started !== undefined);
  return started;
};

/** Bytes that a request acknowledged, and the path by which they are read again. */
type Kept = { path: string; text: string };

const read = async (url: string, path: string): Promise<string> => {
  const response = await fetch(`${url}/api/v4${path}`, { headers: { 'private-token': token } });
  return response.status === 200 ? await response.text() : `status ${response.status}`;
};

/** Commits files, each a new one. Returns the one that was acknowledged; null: none. */
const commitFile = async (url: string, project: number, name: string): Promise<Kept | null> => {
  const path = `/projects/${project}/repository/files/${name}`;
  const json = { branch: 'main', content: name, commit_message: `Add ${name}` };
  const { status } = await call(url, `POST ${path}`, json);
  return status === 201 ? { path: `${path}/raw?ref=main`, text: name } : null;
};

const upload = async (url: string, project: number, name: string): Promise<Kept | null> => {
  const body = new FormData();
  body.set('file', new Blob([name]), 'a.txt');
  const headers = { 'private-token': token };
  const response = await fetch(`${url}/api/v4/projects/${project}/uploads`, {
    method: 'POST',
    headers,
    body,
  });
  if (response.status !== 201) return null;
  const { url: address } = (await response.json()) as { url: string };
  return { path: `/projects/${project}${address}`, text: name };
};

/** Projects by the storage of their repository. */
type Projects = Map<string, number[]>;

const listProjects = (projects: Projects): number[] => [...projects.values()].flat();

type Bytes = {
  kept: Kept[];
  /** Number of failed writes, by the storage of the project. */
  failed: Map<string, number>;
};

type Writer = (url: string, project: number, name: string) => Promise<Kept | null>;

/** Writes bytes one after another until the signal is aborted; failed writes are not retried. */
const writeBytes = async (
  write: Writer,
  projects: Projects,
  name: string,
  until: AbortSignal,
): Promise<Bytes> => {
  const [kept, failed]: [Kept[], Map<string, number>] = [[], new Map()];
  const all = [...projects].flatMap(([storage, ids]) => ids.map((id) => ({ storage, id })));
  for (let count = 0; !until.aborted; count += 1) {
    const { storage = '', id = 0 } = all[count % all.length] ?? {};
    const one = await write(getCluster().url, id, `${name}-${count}`).catch(() => null);
    if (one !== null) kept.push(one);
    else {
      failed.set(storage, (failed.get(storage) ?? 0) + 1);
      await wait(50);
    }
  }
  return { kept, failed };
};

/** Makes projects with an issue each, which is read and not changed. */
const makeProjects = async (cluster: Cluster, ledger: Ledger): Promise<Projects> => {
  const projects: Projects = new Map([
    ['default', []],
    ['other', []],
  ]);
  for (const name of ['one', 'two', 'three'])
    for (const [storage, ids] of projects) {
      const { id: project } = await makeProjectIn(cluster.url, storage, {
        name: `${name}-${storage}`,
        initialize_with_readme: true,
      });
      const read = { title: 'To be read', description: 'by all', confidential: false };
      const issue = await call(cluster.url, `POST /projects/${project}/issues`, { ...read, labels: 'load' });
      const acknowledged: State = { ...read, state: 'opened', time_spent: 0, notes: [] };
      ledger.entries.push({ project, iid: Number(issue.body.iid), acknowledged, pending: null });
      ids.push(project);
    }
  return projects;
};

/** What failed in a round, in which a part was killed. */
type Failures = {
  /** Writes of issues without a clear answer. */
  issues: number;
  commits: Map<string, number>;
  uploads: Map<string, number>;
  issueReads: string[];
  /** By the storage of the project. */
  codeReads: Map<string, string[]>;
  /** Pushes, clones and calls of runners. */
  clients: string[];
};

const sumFailed = (failed: Map<string, number>): number => failed.values().reduce((sum, one) => sum + one, 0);

/** A killed service fails the requests that it was answering, of which each client has one. */
const checkService = (name: string, failures: Failures): void => {
  assert.ok(failures.issues <= writers, `${name}: ${failures.issues} writes of issues`);
  for (const kind of ['commits', 'uploads'] as const)
    assert.ok(sumFailed(failures[kind]) <= 1, `${name}: ${sumFailed(failures[kind])} ${kind}`);
  const reads = [failures.issueReads, ...failures.codeReads.values()];
  for (const failed of reads) assert.ok(failed.length <= 1, `${name}: ${failed.join('\n')}`);
  // Two who push, a runner that waits for a job and whose test makes a pipeline, and one with a job; two follow logs.
  assert.ok(failures.clients.length <= 7, `${name}: ${failures.clients.join('\n')}`);
};

/** Without a storage, only what needs its repositories fails. */
const checkStorage = (name: string, storage: string, failures: Failures): void => {
  assert.equal(failures.issues, 0, name);
  assert.equal(sumFailed(failures.uploads), 0, name);
  assert.deepEqual(failures.issueReads, [], name);
  const others = <T>(failed: Map<string, T>): T[] =>
    [...failed].filter(([one]) => one !== storage).map(([, value]) => value);
  assert.deepEqual(others(failures.commits), [], name);
  assert.deepEqual(others(failures.codeReads).flat(), [], name);
  const own = storage === 'default' ? 'SSH' : 'HTTP';
  const git = failures.clients.filter((text) => /^(?:HTTP|SSH) /.test(text));
  assert.deepEqual(
    git.filter((text) => !text.startsWith(own)),
    [],
    name,
  );
};

/** Without the bucket, only uploads and artifacts fail. */
const checkBucket = (name: string, failures: Failures): void => {
  assert.equal(failures.issues, 0, name);
  assert.equal(sumFailed(failures.commits), 0, name);
  assert.deepEqual([...failures.issueReads, ...[...failures.codeReads.values()].flat()], [], name);
  assert.deepEqual(
    failures.clients.filter((text) => /^(?:HTTP|SSH) /.test(text)),
    [],
    name,
  );
};

const checkFailures = (part: Part, failures: Failures): void => {
  if (part.isService === true) return checkService(part.name, failures);
  const [, storage] = /^storage (\w+)$/.exec(part.name) ?? [];
  if (storage !== undefined) return checkStorage(part.name, storage, failures);
  if (part.name === 'bucket') checkBucket(part.name, failures);
};

/** Reads issues, and code of each storage, until the signal is aborted. */
const startReaders = (url: string, projects: Projects, until: AbortSignal) => {
  const failures = { issueReads: [] as string[], codeReads: new Map<string, string[]>() };
  const [project = 0] = listProjects(projects);
  const reading = [sendRequests({ url, project, failed: failures.issueReads, until }, issueReads)];
  for (const [storage, [first = 0]] of projects) {
    const failed: string[] = [];
    failures.codeReads.set(storage, failed);
    reading.push(sendRequests({ url, project: first, failed, until }, codeReads));
  }
  return { failures, end: async (): Promise<number[]> => await Promise.all(reading) };
};

type Round = { cluster: Cluster; projects: Projects; ledger: Ledger; clients: Clients; random: () => number };

let rounds = 0;

/** Kills a part under load and brings it back. */
const runRound = async ({ cluster, projects, ledger, clients, random }: Round, part: Part) => {
  rounds += 1;
  const [stop, round] = [new AbortController(), rounds];
  const until = stop.signal;
  ledger.unclear = 0;
  const failedBefore = clients.failed.length;
  const all = listProjects(projects);
  const issues = runLoad({ url: cluster.url, projects: all, ledger, random, round, until }, writers);
  const readers = startReaders(cluster.url, projects, until);
  const bytes = [commitFile, upload].map(
    async (write) => await writeBytes(write, projects, `${write.name}-${round}`, until),
  );
  await wait(spans.before);
  await part.kill();
  const atKill = ledger.acknowledged;
  await wait(spans.without);
  // More than were on their way when it was killed.
  const goesOn = (): boolean => ledger.acknowledged - atKill > writers;
  for (let waited = 0; part.isSpare && !goesOn() && waited < maxPause; waited += 100) await wait(100);
  const without = ledger.acknowledged - atKill;
  await part.restore();
  await wait(spans.again);
  stop.abort();
  await issues;
  const reads = await readers.end();
  assert.ok(
    reads.every((one) => one > 0),
    `${part.name}: ${reads.join(', ')} reads`,
  );
  const [commits, uploads] = await Promise.all(bytes);
  assert.ok(commits !== undefined && uploads !== undefined);
  const failures: Failures = {
    ...readers.failures,
    issues: ledger.unclear,
    commits: commits.failed,
    uploads: uploads.failed,
    clients: clients.failed.slice(failedBefore),
  };
  return { without, failures, kept: [...commits.kept, ...uploads.kept] };
};

it(
  'loses no acknowledged write when any part is killed under load',
  { skip, timeout: 1_200_000 },
  async (test) => {
    const cluster = getCluster();
    const [random, ledger, kept] = [makeRandom(seed), newLedger(), [] as Kept[]];
    const projects = await makeProjects(cluster, ledger);
    const ids = listProjects(projects);
    const working = await startClients(cluster);
    clients = working;

    for (const part of cluster.parts) {
      const round = await runRound({ cluster, projects, ledger, clients: working, random }, part);
      kept.push(...round.kept);
      await cluster.untilReady();
      assert.deepEqual(ledger.refused, [], part.name);
      checkFailures(part, round.failures);
      const held = await readIssues(cluster.place, cluster.url, ids);
      assert.deepEqual(settle(ledger, held), [], part.name);
      assert.deepEqual(await findFaults(cluster.place, engine), [], part.name);
      for (const { path, text } of kept)
        assert.equal(await read(cluster.url, path), text, `${part.name}: ${path}`);
      if (part.isSpare) assert.ok(round.without > writers, `nothing was written without ${part.name}`);
      test.diagnostic(
        `${part.name}: ${round.without} writes without it, ${ledger.acknowledged} and ${kept.length} files in all`,
      );
    }
    await working.finish();
    test.diagnostic(JSON.stringify(working.counts));
  },
);
