/**
 * Three services behind haproxy and two repository storages are restarted one after the other under load: no request,
 * push, clone or job fails, nothing that was acknowledged is lost, and those who follow changes and logs of jobs miss
 * nothing, not even when a service is killed. In `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isWhole, seed } from '../support/run/sample.ts';
import { type Cluster, startCluster } from './cluster.ts';
import {
  commitFile,
  listAll,
  listProjects,
  makeProjects,
  newFailureLogs,
  readKept,
  writeBytes,
} from './cluster_bytes.ts';
import { startClients } from './cluster_clients.ts';
import { listServices, listStorages, startLoad } from './cluster_load.ts';
import { makeRandom, newLedger, runLoad, settle } from './ledger.ts';
import { engine } from './process.ts';
import { readIssues } from './read_issues.ts';

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;
const skip =
  engine === 'sqlite'
    ? 'a file serves one process'
    : !hasProxy
      ? 'haproxy is not installed'
      : !isWhole && 'only in test:all';

let started: Cluster | undefined;
const running: { abort: () => void }[] = [];
before(async () => {
  if (skip !== false) return;
  const env = { GANTRY_DRAIN_DELAY: '2' };
  started = await startCluster(process.env['GANTRY_TEST_DATABASE_URL'] ?? '', { env, inter: '200ms' });
});
after(async () => {
  for (const one of running) one.abort();
  await started?.remove();
});

/** Writes issues and files in both storages, and records each answer. */
const startWriters = async ({ place, url }: Cluster) => {
  const [ledger, stop] = [newLedger(), new AbortController()];
  const projects = await makeProjects(url, ledger);
  const [ids, failed] = [listProjects(projects), newFailureLogs(projects)];
  const until = stop.signal;
  const issues = runLoad({ url, projects: ids, ledger, random: makeRandom(seed), round: 1, until }, 4);
  const files = writeBytes(commitFile, { url, projects }, failed, { name: 'file', until });
  return {
    abort: () => stop.abort(),
    /** Ends the writers, and asserts that none failed and that all is there. */
    finish: async (): Promise<void> => {
      stop.abort();
      await issues;
      const kept = await files;
      assert.deepEqual([...ledger.refused, ...listAll(failed)], []);
      assert.equal(ledger.unclear, 0);
      assert.deepEqual(settle(ledger, await readIssues(place, url, ids)), []);
      for (const { path, text } of kept) assert.equal(await readKept(url, path), text, path);
      assert.ok(kept.length > 0 && ledger.acknowledged > 0);
    },
  };
};

it(
  'no request fails while services and storages are restarted, and followers miss nothing',
  { skip, timeout: 600_000 },
  async (test) => {
    assert.ok(started !== undefined);
    const cluster = started;
    const load = await startLoad(cluster.url, 6);
    const { stream, polled } = load.followers;
    const clients = await startClients(cluster);
    const writers = await startWriters(cluster);
    running.push(load, clients, writers);

    for (const { name, stop, restore } of [...listServices(cluster), ...listStorages(cluster)]) {
      await wait(1_000);
      assert.equal(await stop?.(), 0, name);
      await restore();
      await cluster.untilReady();
      await wait(1_000);
      assert.deepEqual([...load.failed.list(), ...clients.failed.list()], [], name);
    }
    await writers.finish();
    assert.ok(stream.connections > 1 && polled.connections > 1);

    // Killed services may fail requests that they had received, but those who follow go on.
    for (const { kill, restore } of listServices(cluster)) {
      await wait(500);
      await kill();
      await wait(1_000);
      await restore();
      await cluster.untilReady();
      await wait(1_000);
    }
    await clients.finish();
    // Each job has one stream, unless a restart ended it.
    assert.ok(clients.counts.streams > clients.counts.jobs);
    const { requests, changes } = await load.finish();
    test.diagnostic(
      `${requests} requests, ${changes} changes, ${stream.connections} streams, ${polled.connections} polls, ${JSON.stringify(clients.counts)}`,
    );
  },
);
