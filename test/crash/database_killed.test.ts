/**
 * PostgreSQL itself is killed under two services and started again: requests answer 503 meanwhile, what was acknowledged
 * is there afterwards, and everything goes on without a restart of a service.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type KillablePostgres, startKillablePostgres } from '../support/databases/killable_postgres.ts';
import { seed, times } from '../support/run/sample.ts';
import { until } from '../support/until.ts';
import {
  type Follower,
  type Following,
  followStream,
  listChanges,
  pollChanges,
  untilAtEnd,
} from './followers.ts';
import { newFailureLog } from './failure_log.ts';
import { untilEmpty } from './git_operations.ts';
import { findFaults } from './invariants.ts';
import { type Ledger, makeRandom, newLedger, runLoad, settle } from './ledger.ts';
import { type Place, type Running, call, callAll, engine, newPlace, startTogether } from './process.ts';
import { readIssues } from './read_issues.ts';

const refusal = { message: '503 Service Unavailable' };
const writers = 4;

const statusOf = async (url: string, path: string): Promise<number> => {
  const response = await fetch(`${url}${path}`);
  await response.text();
  return response.status;
};

/** Commits one file after the other, each of which makes a pipeline; returns the acknowledged commits. */
const commitFiles = async (url: string, project: number, name: string, signal: AbortSignal) => {
  const commits: string[] = [];
  for (let count = 0; !signal.aborted; count += 1) {
    const path = `/projects/${project}/repository/files/${name}-${count}`;
    const json = { branch: 'main', content: name, commit_message: `Add ${name}-${count}` };
    const { status } = await call(url, `POST ${path}`, json);
    assert.ok([201, 400, 503].includes(status), `${path}: ${status}`);
    if (status !== 201) await wait(50);
    else commits.push(`Add ${name}-${count}`);
  }
  return commits;
};

describe('a killed PostgreSQL', { skip: engine !== 'postgres' && 'needs PostgreSQL' }, () => {
  let postgres: KillablePostgres;
  let place: Place;
  let services: Running[];
  let project: number;
  const ledger: Ledger = newLedger();
  const commits: string[] = [];
  const following = new AbortController();
  const failed = newFailureLog();
  const followers: Follower[] = [];
  let ends: Promise<void>[];

  before(async () => {
    postgres = await startKillablePostgres();
    place = newPlace(undefined, postgres.url);
    services = await startTogether(place, 2);
    const [{ url }] = services as [Running, Running];
    const created = await call(url, 'POST /projects', { name: 'p' });
    project = Number(created.body.id);
    const content = 'walk: { script: [echo it holds] }';
    const file = `POST /projects/${project}/repository/files/.gitlab-ci.yml`;
    const { status } = await call(url, file, { branch: 'main', content, commit_message: 'Walk' });
    assert.equal(status, 201);
    ends = services.flatMap((service) => {
      const [stream, polled] = [
        { ids: [], connections: 0 },
        { ids: [], connections: 0 },
      ];
      followers.push(stream, polled);
      const at: Following = { url: service.url, failed, until: following.signal };
      return [followStream(at, stream), pollChanges(at, polled)];
    });
  });
  after(async () => {
    following.abort();
    await Promise.all(ends ?? []);
    await place?.remove();
    await postgres?.stop();
  });

  /** Asks for what needs the database, and what does not. */
  const checkOutage = async ({ url }: Running): Promise<void> => {
    for (const [line, json] of [
      ['GET /version'],
      [`GET /projects/${project}/issues`],
      [`POST /projects/${project}/issues`, { title: 'Never' }],
    ] as const) {
      const { status, body } = await call(url, line, json);
      assert.deepEqual([line, status, body], [line, 503, refusal]);
    }
    assert.equal(await statusOf(url, '/-/readiness'), 503);
    assert.equal(await statusOf(url, '/-/liveness'), 200);
    const health = await fetch(`${url}/-/health`);
    assert.equal(health.status, 503);
    assert.match(await health.text(), /^database/m);
  };

  const runRound = async (round: number): Promise<void> => {
    const stop = new AbortController();
    const random = makeRandom(seed + round);
    const working = services.map(async ({ url }, at) => {
      const load = { url, projects: [project], ledger, random, round: round * 10 + at, until: stop.signal };
      const [made] = await Promise.all([
        commitFiles(url, project, `r${round}s${at}`, stop.signal),
        runLoad(load, writers),
      ]);
      commits.push(...made);
    });
    const untilMore = async (count: number): Promise<void> => {
      const target = ledger.acknowledged + count;
      await until(`${count} more writes`, () => ledger.acknowledged >= target);
    };
    ledger.unclear = 0;
    await untilMore(60);
    await postgres.kill();
    const atKill = ledger.acknowledged;
    await until('writes fail', () => ledger.unclear >= writers * 2);
    for (const service of services) await checkOutage(service);
    assert.ok(ledger.acknowledged - atKill <= writers * 2, 'writes are acknowledged without a database');
    await postgres.restore();
    for (const { url } of services)
      await until('ready again', async () => (await statusOf(url, '/-/readiness')) === 200);
    await untilMore(60);
    stop.abort();
    await Promise.all(working);
  };

  /** Processes that listen for notifications of others. */
  const countListeners = async (): Promise<number> => {
    const rows = await place.query(
      "select distinct application_name from pg_stat_activity where application_name like 'gantry listens %'",
    );
    return rows.length;
  };

  const rounds = Array.from({ length: times(6, 2) }, (_one, n) => n + 1);
  for (const round of rounds)
    it(`loses nothing that was acknowledged in round ${round}`, { timeout: 300_000 }, async (test) => {
      await runRound(round);
      const [first] = services as [Running, Running];
      assert.deepEqual(ledger.refused, []);
      assert.deepEqual([...ledger.unclearStatuses], [503]);
      const held = await readIssues(place, first.url, [project]);
      assert.deepEqual(settle(ledger, held), []);
      assert.deepEqual(await findFaults(place, engine), []);

      const due = "select name, last_error from work where run_at < 9000000000000 and name like 'pipelines%'";
      await untilEmpty(place, 'work', due);
      test.diagnostic(`${ledger.acknowledged} writes and ${commits.length} commits in all`);
    });

  it('lets the queue go on: each acknowledged commit is on its branch and has a pipeline', async () => {
    const [{ url }] = services as [Running, Running];
    const path = `/projects/${project}`;
    const found: { id: string; title: string }[] = await callAll(url, `${path}/repository/commits`);
    const idOf = new Map(found.map(({ id, title }) => [title, id]));
    assert.deepEqual(
      commits.filter((title) => !idOf.has(title)),
      [],
      'commits that are gone',
    );
    const open = "select * from git_operations where process <> 'dropped'";
    await untilEmpty(place, 'an operation', open);
    const listPipelines = async (): Promise<Set<string>> =>
      new Set((await callAll(url, `${path}/pipelines`)).map(({ sha }: { sha: string }) => sha));
    await until('a pipeline for each commit', async () => {
      const shas = await listPipelines();
      return commits.every((title) => shas.has(idOf.get(title) ?? ''));
    });
    assert.ok(commits.length > 0);
  });

  it('lets services listen again, and those who follow changes miss none', async () => {
    const [first, other] = services as [Running, Running];
    await until('both listen', async () => (await countListeners()) === services.length);
    const { status } = await call(first.url, `POST /projects/${project}/issues`, { title: 'The last one' });
    assert.equal(status, 201);
    await untilAtEnd(other.url, followers);
    const all = await listChanges(other.url);
    for (const { ids } of followers) assert.deepEqual(ids, all);
    assert.deepEqual(
      failed.list().filter((text) => !text.endsWith(' 503')),
      [],
    );
  });

  it('a service survives a killed PostgreSQL', async () => {
    for (const { exit } of services) assert.equal(await Promise.race([exit, wait(0, 'alive')]), 'alive');
  });
});
