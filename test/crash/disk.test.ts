/** A full disk refuses writes and serves reads; a failing disk ends the process. SQLite only. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { seedIssue, seedProject } from '../support/seed.ts';
import { makeReadOnly } from '../support/machine/read_only_folder.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { findFaults } from './invariants.ts';
import { type Place, type Running, call, callAll, engine, newPlace } from './process.ts';

const onSqlite = { skip: engine !== 'sqlite' };
const refusal = { message: '503 Service Unavailable' };
const long = 'x'.repeat(100_000);

describe('a database at its size limit', onSqlite, () => {
  let gantry: TestService;
  let project: number;
  before(async () => {
    gantry = await startTestService();
    project = (await seedProject(gantry)).id;
    await seedIssue(gantry, { project, title: 'There before' });
  });
  after(async () => await gantry.close());

  const limit = async (pages: number): Promise<void> =>
    await gantry.service.platform.store.write(async ({ db }) => {
      await sql.raw(`pragma max_page_count = ${pages}`).execute(db);
    });

  const write = async (description: string) =>
    await gantry.api(`POST /projects/${project}/issues`, { json: { title: 'New', description } });

  it('refuses writes with 503, serves reads, and accepts writes after the limit is raised', async () => {
    assert.equal((await write('short')).status, 201); // the token's last use is noted by now
    await limit(1); // that is: as it is
    const refused = await Promise.all(Array.from({ length: 8 }, () => write(long)));
    for (const { status, body } of refused) assert.deepEqual([status, body], [503, refusal]);
    const list = await gantry.api(`GET /projects/${project}/issues`);
    assert.deepEqual(
      list.body.map((issue: { title: string }) => issue.title),
      ['New', 'There before'],
    );
    assert.equal((await gantry.api('GET /version')).status, 200);
    const readiness = await fetch(`${gantry.url}/-/readiness`);
    assert.equal(readiness.status, 200);
    await limit(1_000_000);
    const { status, body } = await write(long);
    assert.deepEqual([status, body.iid, body.description], [201, 3, long]);
  });
});

let place: Place | undefined;
afterEach(async () => {
  await place?.remove();
  place = undefined;
});

const makeProject = async ({ url }: Running): Promise<number> => {
  const { status, body } = await call(url, 'POST /projects', { name: 'disk' });
  assert.equal(status, 201, JSON.stringify(body));
  return Number(body.id);
};

/** Writes until a write is not answered with 201; returns the number of successes and the last response. */
const fill = async ({ url }: Running, project: number) => {
  for (let count = 0; ; count += 1) {
    const reply = await call(url, `POST /projects/${project}/issues`, {
      title: `n${count}`,
      description: long,
    }).catch((error: unknown) => error as Error);
    if (reply instanceof Error || reply.status !== 201) return { count, reply };
    assert.ok(count < 1_000, 'the disk never fills');
  }
};

/** Mounts a small file system for the data; `null` if mounting is not allowed. */
const smallDisk = (data: string): string[] | null => {
  mkdirSync(data, { mode: 0o700 });
  const script =
    'mount -t tmpfs -o size=8m,mode=700 none "$GANTRY_DATA" && head -c 3000000 /dev/zero > "$GANTRY_DATA/ballast" && exec "$@"';
  const command = ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, 'sh'];
  const [program = '', ...args] = command;
  const tried = spawnSync(program, [...args, 'true'], { env: { ...process.env, GANTRY_DATA: data } });
  return tried.status === 0 ? command : null;
};

describe('a disk that is full', onSqlite, () => {
  it('refuses writes with 503, loses nothing, and recovers when there is room', async (test) => {
    place = newPlace();
    const command = smallDisk(place.data);
    if (command === null) {
      test.skip('mounting is not allowed here');
      return;
    }
    const running = await place.start({ before: command });
    const project = await makeProject(running);
    const { count, reply } = await fill(running, project);
    if (reply instanceof Error) throw reply;
    assert.deepEqual([reply.status, reply.body], [503, refusal]);
    assert.ok(count > 3, `${count} writes before the disk was full`);
    const refused = await Promise.all(
      Array.from({ length: 8 }, () =>
        call(running.url, `POST /projects/${project}/issues`, { title: 'x', description: long }),
      ),
    );
    assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([503]));
    assert.equal((await callAll(running.url, `/projects/${project}/issues`)).length, count);
    rmSync(join('/proc', String(running.pid), 'root', place.data, 'ballast'));
    const again = await call(running.url, `POST /projects/${project}/issues`, {
      title: 'room',
      description: long,
    });
    assert.deepEqual([again.status, again.body.iid], [201, count + 1]);
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
  });
});

/** Mounts a small file system for repositories alone; `null` if mounting is not allowed. */
const smallRepositories = (data: string): string[] | null => {
  mkdirSync(join(data, 'repositories'), { recursive: true, mode: 0o700 });
  const script = 'mount -t tmpfs -o size=4m,mode=700 none "$GANTRY_DATA/repositories" && exec "$@"';
  const command = ['unshare', '--mount', '--map-root-user', 'sh', '-c', script, 'sh'];
  const [program = '', ...args] = command;
  const tried = spawnSync(program, [...args, 'true'], { env: { ...process.env, GANTRY_DATA: data } });
  return tried.status === 0 ? command : null;
};

const fillUp = (file: string): void => {
  for (let count = 0; count < 10_000; count += 1) {
    try {
      appendFileSync(file, Buffer.alloc(4096));
    } catch {
      return;
    }
  }
  assert.fail('the disk never fills');
};

/** Makes a project with a merge request that can be merged. */
const openBranches = async (running: Running) => {
  const project = await makeProject(running);
  const commit = async (branch: string, file: string, more: object = {}) =>
    await call(running.url, `POST /projects/${project}/repository/commits`, {
      branch,
      commit_message: file,
      actions: [{ action: 'create', file_path: file, content: file }],
      ...more,
    });
  assert.equal((await commit('main', 'first')).status, 201);
  assert.equal((await commit('topic', 'second', { start_branch: 'main' })).status, 201);
  assert.equal((await commit('main', 'third')).status, 201);
  const request = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
  const { status, body } = await call(running.url, `POST /projects/${project}/merge_requests`, request);
  assert.equal(status, 201);
  const merge = async () =>
    await call(running.url, `PUT /projects/${project}/merge_requests/${body.iid}/merge`, {});
  return { project, commit, merge };
};

describe('a full disk of repositories', onSqlite, () => {
  it('refuses commits and merges with 503, and recovers when there is room', async (test) => {
    place = newPlace();
    mkdirSync(place.data, { mode: 0o700 });
    const command = smallRepositories(place.data);
    if (command === null) {
      test.skip('mounting is not allowed here');
      return;
    }
    const running = await place.start({ before: command });
    const { commit, merge } = await openBranches(running);
    const ballast = join('/proc', String(running.pid), 'root', place.data, 'repositories/ballast');
    fillUp(ballast);
    for (const refused of [await commit('main', 'fourth'), await merge()])
      assert.deepEqual([refused.status, refused.body], [503, refusal]);
    rmSync(ballast);
    assert.equal((await commit('main', 'fourth')).status, 201);
    assert.equal((await merge()).body.state, 'merged');
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
  });
});

describe('a read-only disk of repositories', onSqlite, () => {
  it('refuses commits and merges with 503, serves reads, and recovers', async (test) => {
    place = newPlace();
    const running = await place.start();
    const { project, commit, merge } = await openBranches(running);
    const [repository = ''] = globSync('repositories/default/@hashed/*/*/*.git', { cwd: place.data });
    const makeWritable = makeReadOnly(join(place.data, repository));
    if (typeof makeWritable === 'string') {
      test.skip(makeWritable);
      return;
    }
    try {
      for (const refused of [await commit('main', 'fourth'), await merge()])
        assert.deepEqual([refused.status, refused.body], [503, refusal]);
      const { status } = await call(running.url, `GET /projects/${project}/repository/commits`);
      assert.equal(status, 200);
    } finally {
      makeWritable();
    }
    assert.equal((await commit('main', 'fourth')).status, 201);
    assert.equal((await merge()).body.state, 'merged');
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
  });
});

describe('a failing disk', onSqlite, () => {
  it('ends the process with a non-zero code and keeps acknowledged writes', async () => {
    place = newPlace();
    const prepared = await place.start();
    const project = await makeProject(prepared);
    prepared.signal('SIGTERM');
    await prepared.exit;
    // No file may grow beyond 2 MB: the write fails, but not with ENOSPC.
    const running = await place.start({ before: ['sh', '-c', 'ulimit -f 4096; exec "$@"', 'sh'] });
    const { count } = await fill(running, project);
    assert.equal(await running.exit, 1);
    assert.match(running.output(), /the store failed/);
    const again = await place.start();
    const issues = await callAll(again.url, `/projects/${project}/issues`);
    assert.equal(issues.length, count);
    assert.ok(issues.every((issue) => issue.description === long));
    assert.deepEqual(await findFaults(place, engine), []);
    assert.ok(existsSync(join(place.data, 'gantry.sqlite')));
  });
});
