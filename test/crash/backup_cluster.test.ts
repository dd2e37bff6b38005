/**
 * Backups of a cluster under load: two services, a bucket and two remote storages, with another bucket as the place.
 * Restored to one service, each backup has every write that was acknowledged before it began. In `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isWhole, seed } from '../support/run/sample.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { runCommand } from './backup_command.ts';
import {
  type Acknowledged,
  type BackupLoad,
  checkBytes,
  checkCopy,
  checkLoad,
  startBackupLoad,
} from './backup_load.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { makeProjectIn } from './cluster_clients.ts';
import { untilEmpty } from './git_operations.ts';
import { findFaults } from './invariants.ts';
import { type Ledger, makeRandom, newLedger, runLoad } from './ledger.ts';
import { engine, newPlace } from './process.ts';
import { readIssues } from './read_issues.ts';

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;
const skip =
  engine === 'sqlite'
    ? 'a file serves one process'
    : !hasProxy
      ? 'haproxy is not installed'
      : !isWhole && 'only in test:all';

const rounds = 2;
const storages = ['default', 'other'];
const databaseUrl = process.env['GANTRY_TEST_DATABASE_URL'] ?? '';

let cluster: Cluster | undefined;
let backups: TestS3 | undefined;
const loads: BackupLoad[] = [];
const stop = new AbortController();
before(async () => {
  if (skip !== false) return;
  backups = await startS3();
  cluster = await startCluster(databaseUrl, { services: 2 });
});
after(async () => {
  stop.abort();
  await Promise.all(loads.map(async (load) => await load.end()));
  await cluster?.remove();
  await backups?.close();
});

/** Settings of the place of backups. */
const getPlaceSettings = ({ place }: TestS3): Record<string, string> => ({
  GANTRY_BACKUP_TO: `s3://${place.bucket}/backups`,
  GANTRY_BACKUP_S3_ENDPOINT: place.endpoint,
  GANTRY_BACKUP_S3_REGION: place.region,
  GANTRY_BACKUP_S3_ACCESS_KEY: place.access_key,
  GANTRY_BACKUP_S3_SECRET_KEY: place.secret_key,
});

/** Texts and times only grow, whatever the writers have done since a copy of the ledger was made. */
const checkIssues = (before: Ledger, held: Awaited<ReturnType<typeof readIssues>>): void => {
  for (const { project, iid, acknowledged } of before.entries) {
    const state = held.get(project)?.get(iid);
    assert.ok(state !== undefined, `issue ${iid} of project ${project} is lost`);
    assert.deepEqual(state.notes.slice(0, acknowledged.notes.length), acknowledged.notes);
    assert.ok(state.time_spent >= acknowledged.time_spent, `${state.time_spent} seconds`);
  }
};

type Snapshot = { issues: Ledger; projects: Acknowledged[] };

/** Restores the newest backup to one service with PostgreSQL, an empty bucket and local storages, and compares it. */
const checkRestored = async (
  settings: Record<string, string>,
  { issues, projects }: Snapshot,
  ids: number[],
) => {
  const bucket = await startS3();
  const copy = newPlace(bucket);
  try {
    Object.assign(copy.env, bucket.environment, { GANTRY_REPOSITORY_STORAGES: storages.join(',') });
    await runCommand('backup restore', { ...copy.env, ...settings });
    for (const [at, { project }] of loads.entries()) {
      const before = projects[at];
      assert.ok(before !== undefined);
      await checkCopy(copy, project, before);
    }
    const service = await copy.start();
    for (const [at, load] of loads.entries()) {
      const before = projects[at];
      if (before !== undefined) await checkBytes(service.url, load, before);
    }
    checkIssues(issues, await readIssues(copy, service.url, ids));
    await untilEmpty(copy, 'an operation', "select * from git_operations where process <> 'dropped'");
    assert.deepEqual(await findFaults(copy, engine), []);
    service.signal('SIGKILL');
    await service.exit;
  } finally {
    await copy.remove();
  }
};

it('backups of a cluster have what was acknowledged', { skip, timeout: 1_200_000 }, async () => {
  assert.ok(cluster !== undefined && backups !== undefined);
  const { place, url } = cluster;
  const ids: number[] = [];
  for (const storage of storages) {
    loads.push(await startBackupLoad(url, (await makeProjectIn(url, storage, { name: storage })).path));
    ids.push((await makeProjectIn(url, storage, { name: `issues-${storage}` })).id);
  }
  const ledger = newLedger();
  const load = { url, projects: ids, ledger, random: makeRandom(seed), round: 1, until: stop.signal };
  const issues = runLoad(load, 4);
  const settings = getPlaceSettings(backups);
  for (let round = 0; round < rounds; round += 1) {
    for (const { resume } of loads) resume();
    await wait(1_000);
    const before = { issues: structuredClone(ledger), projects: loads.map((one) => one.acknowledged()) };
    await runCommand('backup create', { ...place.env, ...settings, GANTRY_DATA: `${place.data}-0` });
    for (const { pause } of loads) pause();
    await checkRestored(settings, before, ids);
  }
  stop.abort();
  await issues;
  for (const one of loads) checkLoad(one);
  assert.ok(ledger.acknowledged > 0);
  assert.deepEqual(ledger.refused, []);
});
