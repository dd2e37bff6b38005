/**
 * Three services on one PostgreSQL, one bucket and two storages behind haproxy, under load: each part is killed in turn,
 * and nothing that was acknowledged is lost: issues, files, pushes, and jobs with their logs and artifacts. In
 * `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type KillablePostgres, startKillablePostgres } from '../support/databases/killable_postgres.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { type Cluster, type Part, startCluster } from './cluster.ts';
import { startClients } from './cluster_clients.ts';
import { findFaults } from './invariants.ts';
import { makeRandom, newLedger, runLoad, settle } from './ledger.ts';
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

/** Milliseconds of load before a part is killed, without it, and with it again. */
const spans = { before: 1_000, without: 2_500, again: 2_000 };

let started: Cluster | undefined;
let postgres: KillablePostgres | undefined;
before(async () => {
  if (skip !== false) return;
  postgres = await startKillablePostgres();
  started = await startCluster(postgres.url, { postgres });
});
after(async () => {
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

type Writer = (url: string, project: number, name: string) => Promise<Kept | null>;

/** Writes bytes one after another until the signal is aborted; failed writes are not retried. */
const writeBytes = async (
  write: Writer,
  projects: number[],
  name: string,
  until: AbortSignal,
): Promise<Kept[]> => {
  const kept: Kept[] = [];
  for (let count = 0; !until.aborted; count += 1) {
    const project = projects[count % projects.length] ?? 0;
    const one = await write(getCluster().url, project, `${name}-${count}`).catch(() => null);
    if (one !== null) kept.push(one);
    else await wait(50);
  }
  return kept;
};

const makeProjects = async (cluster: Cluster): Promise<number[]> => {
  const ids: number[] = [];
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
    const { status, body } = await call(cluster.url, 'POST /projects', {
      name,
      initialize_with_readme: true,
    });
    assert.equal(status, 201, JSON.stringify(body));
    ids.push(Number(body.id));
  }
  const rows = await cluster.place.query('select distinct repository_storage from projects');
  assert.equal(rows.length, 2, 'projects of both storages');
  return ids;
};

it(
  'loses no acknowledged write when any part is killed under load',
  { skip, timeout: 1_200_000 },
  async (test) => {
    const cluster = getCluster();
    const projects = await makeProjects(cluster);
    const [random, ledger, kept] = [makeRandom(seed), newLedger(), [] as Kept[]];
    const clients = await startClients(cluster.url);
    let round = 0;

    const runRound = async (part: Part): Promise<number> => {
      round += 1;
      const stop = new AbortController();
      const until = stop.signal;
      ledger.unclear = 0;
      const issues = runLoad({ url: cluster.url, projects, ledger, random, round, until }, writers);
      const bytes = [commitFile, upload].map(
        async (write) => await writeBytes(write, projects, `${write.name}-${round}`, until),
      );
      await wait(spans.before);
      await part.kill();
      const atKill = ledger.acknowledged;
      await wait(spans.without);
      const without = ledger.acknowledged - atKill;
      await part.restore();
      await wait(spans.again);
      stop.abort();
      await issues;
      kept.push(...(await Promise.all(bytes)).flat());
      return without;
    };

    for (const part of cluster.parts) {
      const without = await runRound(part);
      await cluster.untilReady();
      assert.deepEqual(ledger.refused, [], part.name);
      // Each writer has one request on the killed connections at most.
      if (part.isService === true) assert.ok(ledger.unclear <= writers, `${part.name}: ${ledger.unclear}`);
      const held = await readIssues(cluster.place, cluster.url, projects);
      assert.deepEqual(settle(ledger, held), [], part.name);
      assert.deepEqual(await findFaults(cluster.place, engine), [], part.name);
      for (const { path, text } of kept)
        assert.equal(await read(cluster.url, path), text, `${part.name}: ${path}`);
      if (part.isSpare) assert.ok(without > 0, `nothing was written without ${part.name}`);
      test.diagnostic(
        `${part.name}: ${without} writes without it, ${ledger.acknowledged} and ${kept.length} files in all`,
      );
    }
    await clients.finish();
    test.diagnostic(JSON.stringify(clients.counts));
  },
);
