/** A PostgreSQL outage while the service runs: immediate 503s, and full recovery when it is back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { seedProject } from '../support/seed.ts';
import { type CuttableLine, makeCuttableLine } from '../support/servers/cuttable_line.ts';
import { type Reply, type TestService, engine, startTestService } from '../support/service.ts';

const refusal = { message: '503 Service Unavailable' };

describe('connections that the server closes', { skip: engine !== 'postgres' }, () => {
  let gantry: TestService;
  before(async () => void (gantry = await startTestService()));
  after(async () => await gantry.close());

  it('answer pending requests with 503; later requests succeed', async () => {
    const { id } = await seedProject(gantry);
    const { database_url, database_schema: schema } = gantry.service.platform.config;
    const client = new pg.Client({ connectionString: database_url ?? '' });
    await client.connect();
    const replies: Reply[] = [];
    let isCutting = true;
    const load = async (n: number): Promise<void> => {
      while (isCutting) {
        const line = n % 2 === 0 ? `POST /projects/${id}/issues` : `GET /projects/${id}/issues`;
        replies.push(await gantry.api(line, n % 2 === 0 ? { json: { title: 'x' } } : {}));
      }
    };
    const running = Promise.all(Array.from({ length: 8 }, (_one, n) => load(n)));
    for (let cut = 0; cut < 10; cut += 1) {
      await new Promise((resolve) => void setTimeout(resolve, 40));
      await client.query(
        `select pg_terminate_backend(l.pid) from pg_locks l join pg_class c on c.oid = l.relation
          join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = $1 and l.database = (select oid from pg_database where datname = current_database())`,
        [schema],
      );
    }
    isCutting = false;
    await running;
    await client.end();
    const odd = replies.filter(({ status }) => ![200, 201, 503].includes(status));
    assert.deepEqual(
      odd.map(({ status, text }) => `${status} ${text}`),
      [],
    );
    assert.ok(
      replies.some(({ status }) => status === 503),
      'nothing was cut',
    );
    assert.equal((await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'after' } })).status, 201);
    const issues = replies.filter(({ status }) => status === 201).map(({ body }) => Number(body.iid));
    assert.equal(new Set(issues).size, issues.length);
  });
});

describe('an unreachable server', { skip: engine !== 'postgres' }, () => {
  let line: CuttableLine;
  let gantry: TestService;
  before(async () => {
    line = await makeCuttableLine(process.env['GANTRY_TEST_DATABASE_URL'] ?? '');
    gantry = await startTestService({ GANTRY_DATABASE_URL: line.url });
  });
  after(async () => {
    await gantry.close();
    await line.cut();
  });

  it('makes every request a prompt 503 and the service not ready, until it is back', async () => {
    const { id } = await seedProject(gantry);
    assert.equal((await gantry.api('GET /version')).status, 200);
    await line.cut();
    for (const path of ['GET /version', 'GET /issues', `POST /projects/${id}/issues`]) {
      const { status, body } = await gantry.api(
        path,
        path.startsWith('POST') ? { json: { title: 'x' } } : {},
      );
      assert.deepEqual([path, status, body], [path, 503, refusal]);
    }
    assert.equal((await fetch(`${gantry.url}/-/readiness`)).status, 503);
    assert.equal((await fetch(`${gantry.url}/-/liveness`)).status, 200);
    await line.mend();
    const { status, body } = await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'back' } });
    assert.deepEqual([status, body.iid], [201, 1]);
    assert.equal((await fetch(`${gantry.url}/-/readiness`)).status, 200);
  });
});
