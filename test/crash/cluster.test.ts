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
import {
  type FailureLogs,
  type Kept,
  type Projects,
  commitFile,
  listAll,
  listProjects,
  makeProjects,
  newFailureLogs,
  readKept,
  upload,
  writeBytes,
} from './cluster_bytes.ts';
import { type Clients, startClients } from './cluster_clients.ts';
import { codeReads, issueReads, sendRequests } from './cluster_load.ts';
import { type FailureLog, newFailureLog } from './failure_log.ts';
import { findFaults } from './invariants.ts';
import { type Ledger, makeRandom, newLedger, runLoad, settle } from './ledger.ts';
import { engine } from './process.ts';
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

/**
 * Milliseconds of load before a part is killed, at least without it, after which everything works again once it is back,
 * and in which nothing fails.
 */
const spans = { before: 1_000, without: 2_500, mended: 4_000, again: 4_000 };
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

/** What failed in a round, in which a part was killed. */
type Failures = {
  /** Writes of issues without a clear answer. */
  issues: FailureLog;
  commits: FailureLogs;
  uploads: FailureLogs;
  issueReads: FailureLog;
  codeReads: FailureLogs;
  /** Pushes, clones and calls of runners. */
  clients: string[];
};

const newFailures = (projects: Projects): Omit<Failures, 'clients'> => ({
  issues: newFailureLog(),
  commits: newFailureLogs(projects),
  uploads: newFailureLogs(projects),
  issueReads: newFailureLog(),
  codeReads: newFailureLogs(projects),
});

/** A killed service fails the requests that it was answering, of which each client has one. */
const checkService = (name: string, failures: Failures): void => {
  const issues = failures.issues.list();
  assert.ok(issues.length <= writers, `${name}: ${issues.length} writes of issues`);
  const reads = [failures.issueReads, ...failures.codeReads.values()].map((log) => log.list());
  for (const failed of [listAll(failures.commits), listAll(failures.uploads), ...reads])
    assert.ok(failed.length <= 1, `${name}: ${failed.join('\n')}`);
  // Two who push, a runner that waits for a job and whose test makes a pipeline, and one with a job; two follow logs.
  assert.ok(failures.clients.length <= 7, `${name}: ${failures.clients.join('\n')}`);
};

/** Without a storage, only what needs its repositories fails. */
const checkStorage = (name: string, storage: string, failures: Failures): void => {
  assert.deepEqual(failures.issues.list(), [], name);
  assert.deepEqual(listAll(failures.uploads), [], name);
  assert.deepEqual(failures.issueReads.list(), [], name);
  const others = (failed: FailureLogs): string[] =>
    listAll(new Map([...failed].filter(([one]) => one !== storage)));
  assert.deepEqual(others(failures.commits), [], name);
  assert.deepEqual(others(failures.codeReads), [], name);
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
  assert.deepEqual(failures.issues.list(), [], name);
  assert.deepEqual(listAll(failures.commits), [], name);
  assert.deepEqual([...failures.issueReads.list(), ...listAll(failures.codeReads)], [], name);
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

/** Reads issues, and code of each storage, until the signal is aborted. @returns the number of each kind */
const readAll = async (
  url: string,
  projects: Projects,
  { issueReads: failed, codeReads: failedOfCode }: Omit<Failures, 'clients'>,
  until: AbortSignal,
): Promise<number[]> => {
  const [project = 0] = listProjects(projects);
  const reading = [sendRequests({ url, project, failed, until }, issueReads)];
  for (const [storage, [first = 0]] of projects) {
    const log = failedOfCode.get(storage) ?? failed;
    reading.push(sendRequests({ url, project: first, failed: log, until }, codeReads));
  }
  return await Promise.all(reading);
};

/** Nothing fails any more some seconds after the part is back: what is listed did. */
const listLate = (failures: Omit<Failures, 'clients'>, clients: Clients, ready: number): string[] => {
  const { issues, issueReads, commits, uploads, codeReads } = failures;
  const byStorage = [commits, uploads, codeReads].flatMap((logs) => [...logs.values()]);
  const logs = [issues, issueReads, ...byStorage, clients.failed];
  return logs.flatMap((log) => log.listAfter(ready + spans.mended));
};

type Round = { cluster: Cluster; projects: Projects; ledger: Ledger; clients: Clients; random: () => number };

let rounds = 0;

/** Kills a part under load and brings it back. */
const runRound = async ({ cluster, projects, ledger, clients, random }: Round, part: Part) => {
  rounds += 1;
  const [stop, round] = [new AbortController(), rounds];
  const until = stop.signal;
  ledger.unclear = 0;
  const began = performance.now();
  const failures = newFailures(projects);
  const load = { url: cluster.url, projects: listProjects(projects), ledger, random, round, until };
  const onUnclear = (): void => failures.issues.add('a write of an issue');
  const issues = runLoad({ ...load, onUnclear }, writers);
  const readers = readAll(cluster.url, projects, failures, until);
  const bytes = (['commits', 'uploads'] as const).map(async (kind) => {
    const write = kind === 'commits' ? commitFile : upload;
    return await writeBytes(write, { url: cluster.url, projects }, failures[kind], {
      name: `${kind}-${round}`,
      until,
    });
  });
  await wait(spans.before);
  await part.kill();
  const atKill = ledger.acknowledged;
  await wait(spans.without);
  // More than were on their way when it was killed.
  const goesOn = (): boolean => ledger.acknowledged - atKill > writers;
  for (let waited = 0; part.isSpare && !goesOn() && waited < maxPause; waited += 100) await wait(100);
  const without = ledger.acknowledged - atKill;
  await part.restore();
  await cluster.untilReady();
  const ready = performance.now();
  await wait(spans.mended + spans.again);
  const late = listLate(failures, clients, ready);
  stop.abort();
  await issues;
  const reads = await readers;
  assert.ok(
    reads.every((one) => one > 0),
    `${part.name}: ${reads.join(', ')} reads`,
  );
  const kept = (await Promise.all(bytes)).flat();
  return { without, late, kept, failures: { ...failures, clients: clients.failed.listAfter(began) } };
};

it(
  'loses no acknowledged write when any part is killed under load',
  { skip, timeout: 1_200_000 },
  async (test) => {
    const cluster = getCluster();
    const [random, ledger, kept] = [makeRandom(seed), newLedger(), [] as Kept[]];
    const projects = await makeProjects(cluster.url, ledger);
    const ids = listProjects(projects);
    const working = await startClients(cluster);
    clients = working;

    for (const part of cluster.parts) {
      const round = await runRound({ cluster, projects, ledger, clients: working, random }, part);
      kept.push(...round.kept);
      assert.deepEqual(ledger.refused, [], part.name);
      assert.deepEqual(round.late, [], `${part.name} was back`);
      checkFailures(part, round.failures);
      const held = await readIssues(cluster.place, cluster.url, ids);
      assert.deepEqual(settle(ledger, held), [], part.name);
      assert.deepEqual(await findFaults(cluster.place, engine), [], part.name);
      for (const { path, text } of kept)
        assert.equal(await readKept(cluster.url, path), text, `${part.name}: ${path}`);
      if (part.isSpare) assert.ok(round.without > writers, `nothing was written without ${part.name}`);
      test.diagnostic(
        `${part.name}: ${round.without} writes without it, ${ledger.acknowledged} and ${kept.length} files in all`,
      );
    }
    await working.finish();
    test.diagnostic(JSON.stringify(working.counts));
  },
);
