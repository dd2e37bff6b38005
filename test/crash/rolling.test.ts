/**
 * Three services behind haproxy are restarted one after the other under load: no request, push, clone or job fails, and
 * those who follow changes and logs of jobs miss nothing, not even when a service is killed. In `npm run test:all` alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isWhole } from '../support/run/sample.ts';
import { type Cluster, type Part, startCluster } from './cluster.ts';
import { startClients } from './cluster_clients.ts';
import { type Follower, followStream, listChanges, pollChanges, untilAtEnd } from './followers.ts';
import { call, engine, token } from './process.ts';

const hasProxy = spawnSync('haproxy', ['-v']).status === 0;
const skip =
  engine === 'sqlite'
    ? 'a file serves one process'
    : !hasProxy
      ? 'haproxy is not installed'
      : !isWhole && 'only in test:all';

let started: Cluster | undefined;
before(async () => {
  if (skip !== false) return;
  const env = { GANTRY_DRAIN_DELAY: '2' };
  started = await startCluster(process.env['GANTRY_TEST_DATABASE_URL'] ?? '', { env, inter: '200ms' });
});
after(async () => await started?.remove());

type Load = {
  url: string;
  project: number;
  /** What failed, as text. */
  failed: string[];
  until: AbortSignal;
};

const headers = { 'private-token': token };

/** Sends one request after the other, each of which must succeed. */
const runLoad = async ({ url, project, failed, until }: Load, lines: readonly string[]): Promise<number> => {
  let count = 0;
  for (; !until.aborted; count += 1) {
    const line = lines[count % lines.length]?.replace(':id', String(project)) ?? '';
    const json = line.startsWith('POST') ? { title: `Issue ${count}` } : undefined;
    const status = await fetchStatus(url, line, json);
    if (status !== '200' && status !== '201') failed.push(`${line}: ${status}`);
  }
  return count;
};

const fetchStatus = async (url: string, line: string, json?: object): Promise<string> => {
  const [method = '', path = ''] = line.split(' ');
  try {
    const response = await fetch(`${url}/api/v4${path}`, {
      method,
      headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    await response.text();
    return String(response.status);
  } catch (error) {
    const { message, cause } = error as Error;
    return `${message} ${String(cause)}`;
  }
};

const lines = [
  'POST /projects/:id/issues',
  'GET /projects/:id/issues',
  'GET /projects/:id/issues/1',
  'GET /projects/:id/repository/files/README.md/raw',
  'GET /projects/:id/repository/commits',
];

const servicesOf = ({ parts }: Cluster): Part[] => parts.filter(({ name }) => name.startsWith('service'));

const addProject = async (url: string): Promise<number> => {
  const { status, body } = await call(url, 'POST /projects', { name: 'p', initialize_with_readme: true });
  assert.equal(status, 201);
  await call(url, `POST /projects/${body.id}/issues`, { title: 'First' });
  return Number(body.id);
};

it(
  'no request fails while services are restarted, and followers miss nothing',
  { skip, timeout: 600_000 },
  async (test) => {
    assert.ok(started !== undefined);
    const cluster = started;
    const { url } = cluster;
    const project = await addProject(url);
    const failed: string[] = [];
    const [load, following] = [new AbortController(), new AbortController()];
    const stream: Follower = { ids: [], connections: 0 };
    const polled: Follower = { ids: [], connections: 0 };
    const ends = [
      followStream({ url, failed, until: following.signal }, stream),
      pollChanges({ url, failed, until: following.signal }, polled),
    ];
    const working = Array.from(
      { length: 6 },
      async (_one, at) =>
        await runLoad({ url, project, failed, until: load.signal }, [
          ...lines.slice(at % 5),
          ...lines.slice(0, at % 5),
        ]),
    );

    const clients = await startClients(url);

    for (const { name, stop, restore } of servicesOf(cluster)) {
      await wait(1_000);
      assert.equal(await stop?.(), 0, name);
      await restore();
      await cluster.untilReady();
      await wait(1_000);
      assert.deepEqual([...failed, ...clients.failed], [], name);
    }
    assert.ok(stream.connections > 1 && polled.connections > 1);

    // Killed services may fail requests that they had received, but those who follow go on.
    for (const { kill, restore } of servicesOf(cluster)) {
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
    load.abort();
    const counts = await Promise.all(working);
    await untilAtEnd(url, [stream, polled]);
    following.abort();
    await Promise.all(ends);
    const all = await listChanges(url);
    assert.deepEqual(stream.ids, all, 'the stream');
    assert.deepEqual(polled.ids, all, 'the polls');
    const requests = counts.reduce((sum, count) => sum + count, 0);
    test.diagnostic(
      `${requests} requests, ${all.length} changes, ${stream.connections} streams, ${polled.connections} polls, ${JSON.stringify(clients.counts)}`,
    );
  },
);
