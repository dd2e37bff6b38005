import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Updateable } from 'kysely';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { type Coded, seedCoded } from '../../../../test/support/seed_merge_requests.ts';
import {
  type Peer,
  type PeerJob,
  type SeededRunner,
  makePeer,
  seedRunner,
} from '../../../../test/support/ci/fake_runner.ts';
import { type SeededProject, seedGroup, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { until } from '../../../../test/support/until.ts';
import type { Platform } from '../../../core/platform.ts';
import type { ProjectsTable } from '../../../platform/db/schema/projects.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { runnersTopic } from '../../runners/runners_topic.ts';
import { JobQueue } from './job_queue.ts';
import { loadTaker } from './load_runner_facts.ts';

let gantry: TestService;
const peers: Peer[] = [];

const peerOf = ({ token }: SeededRunner): Peer => {
  const peer = makePeer(gantry, { token });
  peers.push(peer);
  return peer;
};

before(async () => void (gantry = await startTestService()));
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

const ofProject = async (project: { id: number }, seed: Parameters<typeof seedRunner>[1] = {}) =>
  peerOf(await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id], ...seed }));

/** Creates a project with code, whose manual pipelines run. */
const coded = async (columns: Record<string, unknown> = {}): Promise<Coded> =>
  await seedCoded(gantry, {}, columns);

const jobs = async (
  project: Pick<Coded, 'id' | 'first'>,
  file: string,
  input: { protected?: boolean } = {},
): Promise<Record<string, number>> =>
  (await seedPipeline(gantry, { project: project.id, file, sha: project.first, ...input })).jobs;

const setProject = async ({ id }: { id: number }, columns: Updateable<ProjectsTable>): Promise<void> => {
  await gantry.service.platform.store.write(
    async ({ db }) => await db.updateTable('projects').set(columns).where('id', '=', id).execute(),
  );
};

const statusOf = async (id: number): Promise<string> => {
  const query = gantry.service.platform.store.db.selectFrom('jobs').select('status').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).status;
};

/** Blocks repository calls from now on. Returns a function that unblocks them. */
const holdRepositories = (): (() => void) => {
  const { git } = gantry.service.platform;
  const { repository } = git;
  const { promise, resolve } = Promise.withResolvers<void>();
  git.repository = (...input) => {
    const found = repository(...input);
    const ask: Repository['ask'] = async (...asked) => {
      await promise;
      return await found.ask(...asked);
    };
    return { ...found, ask };
  };
  return () => {
    git.repository = repository;
    resolve();
  };
};

/** Takes jobs with this runner until none is left. */
const drain = async (peer: Peer): Promise<number[]> => {
  const found: number[] = [];
  for (let job = await peer.request(); job !== null; job = await next(peer)) found.push(job.id);
  return found;
};

/** Requests a job without waiting. */
const next = async (peer: Peer): Promise<PeerJob | null> => {
  const { status, body } = await peer.poll({ last_update: '' }).reply;
  return status === 204 ? null : { id: body.id, token: body.token, body, log: Buffer.alloc(0) };
};

describe('a runner', () => {
  test('takes jobs whose tags it has, and untagged ones if it runs untagged jobs', async () => {
    const project = await coded();
    const ids = await jobs(
      project,
      '{ none: { script: x }, a: { script: x, tags: [a] }, ab: { script: x, tags: [b, a] }, c: { script: x, tags: [c] } }',
    );
    assert.deepEqual(await drain(await ofProject(project, { tags: ['b'], run_untagged: 0 })), []);
    assert.deepEqual(await drain(await ofProject(project, { tags: ['b', 'a'], run_untagged: 0 })), [
      ids['a'],
      ids['ab'],
    ]);
    assert.deepEqual(await drain(await ofProject(project, { tags: ['x'] })), [ids['none']]);
    assert.equal(await statusOf(ids['c'] ?? 0), 'pending');
  });

  test('for protected refs takes no other jobs', async () => {
    const project = await coded();
    const open = await jobs(project, 'a: { script: x }');
    const guarded = await jobs(project, 'a: { script: x }', { protected: true });
    const peer = await ofProject(project, { access_level: 'ref_protected' });
    assert.deepEqual(await drain(peer), [guarded['a']]);
    assert.deepEqual(await drain(await ofProject(project)), [open['a']]);
  });

  test('of a project, a group or the instance takes the jobs it serves', async () => {
    const above = await seedGroup(gantry);
    const group = await seedGroup(gantry, { parent: above.id });
    const inGroup = await seedCoded(gantry, { namespace: group.id }, { shared_runners_enabled: 0 });
    const outside = await coded({ shared_runners_enabled: 0 });
    const one = await jobs(inGroup, 'a: { script: x }');
    await jobs(outside, 'a: { script: x }');
    const shared = peerOf(await seedRunner(gantry));
    const ofGroup = async (id: number): Promise<Peer> =>
      peerOf(await seedRunner(gantry, { runner_type: 'group_type', groups: [id] }));
    const other = await seedGroup(gantry);
    assert.deepEqual(await drain(shared), []);
    assert.deepEqual(await drain(await ofGroup(other.id)), []);
    assert.deepEqual(await drain(await ofProject(await seedProject(gantry))), []);
    await setProject(inGroup, { group_runners_enabled: 0 });
    assert.deepEqual(await drain(await ofGroup(above.id)), []);
    await setProject(inGroup, { group_runners_enabled: 1 });
    const two = await jobs(inGroup, 'a: { script: x }');
    assert.deepEqual(await drain(await ofGroup(above.id)), [one['a'], two['a']]);
    await setProject(outside, { shared_runners_enabled: 1 });
    const more = await jobs(outside, 'b: { script: x }');
    assert.equal((await drain(shared)).at(-1), more['b']);
  });

  test('that is paused gets no job and no error', async () => {
    const project = await coded();
    await jobs(project, 'a: { script: x }');
    const peer = await ofProject(project, { active: 0 });
    const reply = await peer.poll().reply;
    assert.equal(reply.status, 204);
    assert.ok(reply.headers['x-gitlab-last-update']);
  });

  for (const [why, columns] of [
    ['archived', { archived: 1 }],
    ['without CI', { builds_access_level: 'disabled' }],
    ['without a repository', { repository_access_level: 'disabled' }],
    ['deleted', { deleted_at: 1 }],
  ] as const) {
    test(`gets no jobs of a project that is ${why}`, async () => {
      const project = await coded();
      await jobs(project, 'a: { script: x }');
      await setProject(project, columns);
      assert.deepEqual(await drain(await ofProject(project)), []);
    });
  }

  test('the maximum timeout of a runner limits the time of its jobs', async () => {
    const project = await coded();
    await jobs(project, '{ a: { script: x, timeout: 30 minutes }, b: { script: x, timeout: 5 minutes } }');
    const peer = await ofProject(project, { maximum_timeout: 600 });
    const input = [await peer.take(), await peer.take()];
    assert.deepEqual(
      input.map(({ body }) => body.runner_info.timeout),
      [600, 300],
    );
  });

  test('of the instance takes jobs of the project with the fewest running jobs', async () => {
    const peer = peerOf(await seedRunner(gantry));
    await drain(peer);
    const busy = await coded();
    const calm = await coded();
    await jobs(busy, '{ a: { script: x }, b: { script: x }, c: { script: x } }');
    const last = await jobs(calm, 'z: { script: x }');
    const input = [await peer.take(), await peer.take()];
    assert.ok(input.some(({ id }) => id === last['z']));
    await drain(peer);
  });
});

describe('a poll', () => {
  test('waits only with the last_update it got before', async () => {
    const project = await coded();
    const peer = await ofProject(project);
    const first = await peer.poll({ last_update: '' }).reply;
    assert.equal(first.status, 204);
    assert.equal((await peer.poll({ last_update: 'another' }).reply).status, 204);
    const held = peer.poll();
    const { a } = await jobs(project, 'a: { script: x }');
    const reply = await held.reply;
    assert.deepEqual([reply.status, reply.body.id], [201, a]);
    assert.equal(reply.headers['x-gitlab-last-update'], first.headers['x-gitlab-last-update']);
  });

  test('a waiting request for jobs ends when its runner is paused', async () => {
    const project = await coded();
    const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
    const peer = peerOf(runner);
    await peer.request();
    const held = peer.poll();
    await until('the request is held', async () => {
      await gantry.service.platform.store.write(async (tx) => {
        await tx.db.updateTable('runners').set({ active: 0 }).where('id', '=', runner.id).execute();
        tx.broadcast(runnersTopic);
      });
      return await Promise.race([
        held.reply.then(() => true),
        new Promise<boolean>((resolve) => void setTimeout(() => resolve(false), 20)),
      ]);
    });
    assert.equal((await held.reply).status, 204);
    await jobs(project, 'a: { script: x }');
    assert.equal(await peer.request(), null);
  });

  test('takes no job after its runner disconnects', async () => {
    const project = await coded();
    const [gone, stays] = [await ofProject(project), await ofProject(project)];
    await gone.request();
    const held = gone.poll();
    held.drop();
    await assert.rejects(held.reply);
    await stays.request();
    const waiting = stays.poll();
    const { a } = await jobs(project, 'a: { script: x }');
    assert.equal((await waiting.reply).body.id, a);
  });

  test('returns its job if the runner disconnects before the answer', async () => {
    const project = await coded();
    const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
    const { a = 0 } = await jobs(project, 'a: { script: x }');
    const goOn = holdRepositories();
    const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
    gantry.service.app.server.once('connection', (socket: Socket) => socket.once('close', () => leave()));
    const poll = peerOf(runner).poll({ last_update: '' });
    await until('the job runs', async () => (await statusOf(a)) === 'running');
    poll.drop();
    await assert.rejects(poll.reply);
    await gone;
    goOn();
    await until('the job is pending', async () => (await statusOf(a)) === 'pending');
    const job = await peerOf(runner).take();
    assert.equal(job.id, a);
    await peerOf(runner).run(job);
    assert.equal(await statusOf(a), 'success');
  });
});

/** A platform that counts the queries of its store. */
const counting = (): { platform: Platform; asked: () => number } => {
  const { platform } = gantry.service;
  let asked = 0;
  const store = new Proxy(platform.store, {
    get: (target, name) => {
      if (name === 'db' || name === 'write') asked += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  return { platform: { ...platform, store }, asked: () => asked };
};

const takerFor = async (project: SeededProject) => {
  const { store } = gantry.service.platform;
  const { id } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const row = await store.db.selectFrom('runners').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return await loadTaker(store.db, row);
};

const never = new AbortController().signal;

test('a thousand waiting runners cost no query, and one job wakes one of them', async () => {
  const project = await coded();
  const taker = await takerFor(project);
  const { platform, asked } = counting();
  const queue = new JobQueue(platform);
  let input = 0;
  const polls = Array.from({ length: 1_000 }, async () => {
    const claimed = await queue.poll(taker, { hold: true, signal: never });
    if (claimed !== null) input += 1;
  });
  await new Promise((resolve) => void setTimeout(resolve, 50));
  const before = asked();
  assert.ok(before < 20, `${before} questions`);
  await jobs(project, 'a: { script: x }');
  await until('the request is read', () => input === 1);
  assert.ok(asked() - before < 20, `${asked() - before} questions`);
  queue.close();
  await Promise.all(polls);
  assert.equal(input, 1);
});

test('two processes give no job twice', async () => {
  const project = await coded();
  const taker = await takerFor(project);
  await jobs(project, 'a: { script: x, parallel: 60 }');
  const { platform } = gantry.service;
  const queues = [new JobQueue(platform), new JobQueue(platform)];
  const input: number[] = [];
  const work = async (queue: JobQueue): Promise<void> => {
    for (;;) {
      const claimed = await queue.poll(taker, { hold: false, signal: never });
      if (claimed === null) return;
      input.push(claimed.job.id);
    }
  };
  await Promise.all(queues.flatMap((queue) => Array.from({ length: 6 }, async () => await work(queue))));
  for (const queue of queues) queue.close();
  assert.equal(input.length, 60);
  assert.equal(new Set(input).size, 60);
});

test('hands out each of a thousand jobs once to fifty polling runners', async () => {
  const projects = await Promise.all(Array.from({ length: 4 }, async () => await coded()));
  const pollers = Array.from({ length: 50 }, async (_one, index) => {
    const project = projects[index % projects.length];
    assert.ok(project !== undefined);
    return await ofProject(project);
  });
  const input: number[] = [];
  const over = new AbortController();
  const work = async (peer: Peer): Promise<void> => {
    while (!over.signal.aborted) {
      const poll = peer.poll();
      over.signal.addEventListener('abort', poll.drop);
      const reply = await poll.reply.catch(() => null);
      over.signal.removeEventListener('abort', poll.drop);
      if (reply?.status === 201) input.push(reply.body.id);
      if (input.length >= 1_000) over.abort();
    }
  };
  const all = await Promise.all(pollers);
  const working = all.map(work);
  const wanted: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (const project of projects) {
      wanted.push(...Object.values(await jobs(project, 'a: { script: x, parallel: 50 }')));
    }
  }
  await Promise.all(working);
  const inOrder = (a: number, b: number): number => a - b;
  assert.deepEqual(input.toSorted(inOrder), wanted.toSorted(inOrder));
});
