/**
 * Two services behind haproxy, of which one is stopped and the other one is killed under load, and two repository
 * storages, which are restarted: a short form of
 * `rolling.test.ts` and `cluster.test.ts`, which `npm test` runs after some commits.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Cluster, startCluster } from './cluster.ts';
import { startClients } from './cluster_clients.ts';
import { listServices, listStorages, startLoad } from './cluster_load.ts';
import { engine } from './process.ts';

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;
const skip = engine !== 'postgres' ? 'a file serves one process' : !hasProxy && 'haproxy is not installed';

const senders = 4;
/** Connections that a killed service may cut: of the senders, of the one who polls, and of the other clients. */
const mostCut = senders + 1 + 8;

let started: Cluster | undefined;
const running: { abort: () => void }[] = [];
before(async () => {
  if (skip !== false) return;
  const env = { GANTRY_DRAIN_DELAY: '2' };
  const options = { env, inter: '200ms', services: 2 };
  started = await startCluster(process.env['GANTRY_TEST_DATABASE_URL'] ?? '', options);
});
after(async () => {
  for (const one of running) one.abort();
  await started?.remove();
});

it(
  'nothing fails when a service or a storage is restarted, and only what was in progress when one is killed',
  { skip, timeout: 300_000 },
  async (test) => {
    assert.ok(started !== undefined);
    const cluster = started;
    const load = await startLoad(cluster.url, senders);
    const clients = await startClients(cluster);
    running.push(load, clients);
    const failed = (): string[] => [...load.failed.list(), ...clients.failed.list()];
    const [first, second] = listServices(cluster);
    assert.ok(first !== undefined && second !== undefined);

    for (const { name, stop, restore } of [first, ...listStorages(cluster)]) {
      assert.equal(await stop?.(), 0, name);
      await restore();
      await cluster.untilReady();
      assert.deepEqual(failed(), [], name);
    }

    await second.kill();
    await wait(500);
    await second.restore();
    await cluster.untilReady();
    await clients.finish();
    const { requests, changes } = await load.finish();
    assert.ok(failed().length <= mostCut, failed().join('\n'));
    test.diagnostic(`${requests} requests, ${changes} changes, ${JSON.stringify(clients.counts)}`);
  },
);
