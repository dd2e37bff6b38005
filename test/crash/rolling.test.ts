/**
 * Three services behind haproxy are restarted one after the other under load: no request, push, clone or job fails, and
 * those who follow changes and logs of jobs miss nothing, not even when a service is killed. In `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isWhole } from '../support/run/sample.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { startClients } from './cluster_clients.ts';
import { listServices, startLoad } from './cluster_load.ts';
import { engine } from './process.ts';

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

it(
  'no request fails while services are restarted, and followers miss nothing',
  { skip, timeout: 600_000 },
  async (test) => {
    assert.ok(started !== undefined);
    const cluster = started;
    const load = await startLoad(cluster.url, 6);
    const { stream, polled } = load.followers;
    const clients = await startClients(cluster);
    running.push(load, clients);

    for (const { name, stop, restore } of listServices(cluster)) {
      await wait(1_000);
      assert.equal(await stop?.(), 0, name);
      await restore();
      await cluster.untilReady();
      await wait(1_000);
      assert.deepEqual([...load.failed, ...clients.failed], [], name);
    }
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
