/**
 * Many clients that write into one project at once wait for each other, but never in a circle: no transaction is a
 * victim of PostgreSQL's deadlock detection, and nobody is answered 5xx.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { prepareSite, writeMixed } from '../support/mixed_writes.ts';
import { type TestService, engine, rootToken, startTestService } from '../support/service.ts';

const clients = 24;
const milliseconds = 4_000;

let gantry: TestService;
/** Texts of the statements that ended in a deadlock. */
const deadlocks: string[] = [];
/** Statements that match it fail as victims of a deadlock do. */
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

test('writes of all kinds in one project meet in no deadlock', { skip: engine === 'sqlite' }, async () => {
  const site = await prepareSite(gantry.url, rootToken);
  const end = performance.now() + milliseconds;
  const answers = await writeMixed(site, clients, () => performance.now() > end);
  assert.ok(answers.length > clients, `${answers.length} answers`);
  assert.deepEqual(deadlocks, []);
  assert.deepEqual(
    answers.filter(({ status }) => status >= 500),
    [],
  );
});

test('a transaction that loses every retry is answered 503', { skip: engine === 'sqlite' }, async () => {
  const { projects } = await prepareSite(gantry.url, rootToken);
  victims = /insert into "issues"/;
  const lost = await gantry.api(`POST /projects/${projects[0]}/issues?title=lost`);
  victims = null;
  assert.equal(lost.status, 503, lost.text);
  assert.ok(lost.headers.has('retry-after'));
  const kept = await gantry.api(`POST /projects/${projects[0]}/issues?title=kept`);
  assert.equal(kept.status, 201);
});
