/**
 * Many clients that write into one project wait for each other without deadlocks: PostgreSQL aborts no transaction,
 * and no response is 5xx.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Tx } from '../../../src/platform/db/open.ts';
import { holdProject } from '../../../src/projects/projects/lock_project.ts';
import { type Answer, prepareSite, writeMixed } from '../../support/mixed_writes.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type TestService, engine, rootToken, startTestService } from '../../support/service.ts';
import { isWhole, times } from '../../support/run/sample.ts';

const clients = times(40, 24);
/** The slowest in a hundred writes waits at most for so many usual ones: nobody starves behind a lock. */
const mostOfMedian = 10;
const milliseconds = times(4_000, 1_500);

let gantry: TestService;
/** Texts of the statements that ended in a deadlock. */
const deadlocks: string[] = [];
/** Statements that match this pattern fail like victims of a deadlock. */
let victims: RegExp | null = null;
// oxlint-disable-next-line typescript/unbound-method -- it is called with its client
const { query } = pg.Client.prototype;

before(async () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares six overloads of one function
  (pg.Client.prototype as any).query = function counting(this: pg.Client, ...all: any[]): unknown {
    const text = typeof all[0] === 'string' ? all[0] : (all[0] as { text: string }).text;
    if (victims?.test(text)) {
      return Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
    }
    const answer: unknown = Reflect.apply(query, this, all);
    if (answer instanceof Promise) {
      void answer.catch((error: { code?: string; detail?: string; where?: string }) => {
        if (error.code === '40P01') deadlocks.push(`${text}\n${error.where}\n${error.detail}`);
      });
    }
    return answer;
  };
  gantry = await startTestService({ GANTRY_PIPELINE_LIMIT: '0', GANTRY_ACTIVE_JOBS_LIMIT: '0' });
});
after(async () => {
  pg.Client.prototype.query = query;
  await gantry.close();
});

/** Compares durations within one run, so that it holds on a slow machine. */
const requireFewStragglers = (answers: readonly Answer[]): void => {
  const sorted = answers.map(({ milliseconds }) => milliseconds).toSorted((one, other) => one - other);
  const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map((part) => sorted[Math.floor(sorted.length * part)]);
  assert.ok(p99 <= p50 * mostOfMedian, `p50 ${p50} ms, p99 ${p99} ms`);
};

test('mixed writes in one project cause no deadlock', { skip: engine === 'sqlite' }, async () => {
  const site = await prepareSite(gantry.url, rootToken);
  const end = performance.now() + milliseconds;
  const answers = await writeMixed(site, clients, () => performance.now() > end);
  assert.ok(answers.length > clients, `${answers.length} answers`);
  assert.deepEqual(deadlocks, []);
  assert.deepEqual(
    answers.filter(({ status }) => status >= 500),
    [],
  );
  if (isWhole) requireFewStragglers(answers);
});

test('a transaction whose retries all fail is answered 503', { skip: engine === 'sqlite' }, async () => {
  const { projects } = await prepareSite(gantry.url, rootToken);
  victims = /insert into "issues"/;
  const lost = await gantry.api(`POST /projects/${projects[0]}/issues?title=lost`);
  victims = null;
  assert.equal(lost.status, 503, lost.text);
  assert.ok(lost.headers.has('retry-after'));
  const kept = await gantry.api(`POST /projects/${projects[0]}/issues?title=kept`);
  assert.equal(kept.status, 201);
});

/**
 * Runs `work` while a transaction has made the changes of `begin` and not yet committed. SQLite has one writer, so
 * nothing is open meanwhile.
 */
const whileOpen = async <T>(begin: (tx: Tx) => Promise<unknown>, work: () => Promise<T>): Promise<T> => {
  const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>();
  const { promise: isAnswered, resolve: answered } = Promise.withResolvers<void>();
  const open = gantry.service.platform.store.write(async (tx) => {
    if (engine === 'postgres') await begin(tx);
    begun();
    if (engine === 'postgres') await isAnswered;
  });
  await isBegun;
  try {
    return await work();
  } finally {
    answered();
    await open;
  }
};

test('a commit does not wait for a transaction that holds its project', async () => {
  const { projects } = await prepareSite(gantry.url, rootToken);
  const [id] = projects;
  const lastActivity = async (): Promise<number> =>
    Date.parse((await gantry.api(`GET /projects/${id}`)).body.last_activity_at);
  const before = await lastActivity();
  const actions = [{ action: 'create', file_path: 'new.txt', content: 'new' }];
  const json = { branch: 'main', commit_message: 'Add', actions };
  const reply = await whileOpen(
    async (tx) => await holdProject(tx, id),
    async () => await gantry.api(`POST /projects/${id}/repository/commits`, { json }),
  );
  assert.equal(reply.status, 201, reply.text);
  await settle(gantry);
  assert.ok((await lastActivity()) > before);
});

test('a milestone does not wait for a transaction that holds its project', async () => {
  const { projects } = await prepareSite(gantry.url, rootToken);
  const [id] = projects;
  const [made, renamed] = await whileOpen(
    async (tx) => await holdProject(tx, id),
    async () => {
      const first = await gantry.api(`POST /projects/${id}/milestones?title=first`);
      return [first, await gantry.api(`PUT /projects/${id}/milestones/${first.body.id}?title=other`)];
    },
  );
  assert.deepEqual([made?.status, renamed?.status, renamed?.body.title], [201, 200, 'other']);
});
