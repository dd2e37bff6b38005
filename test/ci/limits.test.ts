/** Limits per user, project and instance: an excess is refused with a reason and does not affect others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { seedPushed } from '../support/ci/pipelines.ts';
import { makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { seedMember, seedUser } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_PIPELINE_LIMIT: '3', GANTRY_ACTIVE_JOBS_LIMIT: '12' });
});
after(async () => await gantry.close());

const base = (text: string) => ({ message: { base: [text] } });

test('limits the pipelines of one commit by one user in a minute', async () => {
  const project = await seedPushed(gantry);
  await project.push('job: { script: make }');
  const create = async (as?: string) =>
    await gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main' }, ...(as && { as }) });
  const all = await Promise.all(Array.from({ length: 8 }, async () => await create()));
  // One was created by the push.
  assert.equal(all.filter(({ status }) => status === 201).length, 2);
  const refused = all.find(({ status }) => status === 400);
  assert.deepEqual(refused?.body, base('Too many pipelines created in the last minute. Try again later.'));
  assert.equal((await project.pipelines()).length, 3);
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  assert.equal((await create(master.token)).status, 201);
  gantry.setTime(Date.now() + 61_000);
  assert.equal((await create()).status, 201);
  gantry.setTime(null);
});

test('limits the jobs of one project that wait or run', async () => {
  const project = await seedPushed(gantry);
  const other = await seedPushed(gantry);
  const ten = Array.from({ length: 10 }, (_, at) => `job${at}: { script: make }`).join('\n');
  await project.push(ten);
  const json = { ref: 'main' };
  const refused = await gantry.api(`POST ${project.path}/pipeline`, { json });
  assert.equal(refused.status, 400);
  const text = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.';
  assert.deepEqual(refused.body, base(text));
  await other.push(ten);
  const [mine] = await other.pipelines();
  assert.equal(mine.status, 'pending');
  const [{ id }] = await project.pipelines();
  assert.equal((await gantry.api(`POST ${project.path}/pipelines/${id}/cancel`)).status, 201);
  assert.equal((await gantry.api(`POST ${project.path}/pipeline`, { json })).status, 201);
});

test('counts jobs that wait for a resource group', async () => {
  const project = await seedPushed(gantry);
  await project.push('job: { script: make, parallel: 10, resource_group: one }');
  const refused = await gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main' } });
  assert.equal(refused.status, 400, refused.text);
});

test('limits the variables of the instance', async () => {
  const make = async (at: number) =>
    await gantry.api('POST /admin/ci/variables', { json: { key: `LIMIT_${at}`, value: 'x' } });
  for (let at = 0; at < 20; at += 1) {
    assert.equal((await make(at)).status, 201);
  }
  const same = await Promise.all(Array.from({ length: 10 }, async () => await make(20)));
  assert.deepEqual(
    same.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, ...Array.from({ length: 9 }, () => 400)],
  );
  const last = await Promise.all(Array.from({ length: 10 }, async (_, at) => await make(21 + at)));
  assert.equal(last.filter(({ status }) => status === 201).length, 4);
  const refused = await make(50);
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.body, base('Maximum number of instance ci variables (25) exceeded'));
});

/** Rows of numbers from 1 on, in both stores. */
const numbers = (count: number) =>
  sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`;

test('limits the variables, triggers and runners of a project', async () => {
  const project = await seedPushed(gantry);
  const id = sql.lit(project.id);
  await gantry.service.platform.store.write(async ({ db }) => {
    await sql`insert into variables (source_type, source_id, key, sealed_value, variable_type, protected, masked,
      hidden, raw, environment_scope, created_at, updated_at) ${numbers(7_999)}
      select 'Project', ${id}, 'CROWD_' || n, '', 'env_var', 0, 0, 0, 0, '*', 0, 0 from numbers`.execute(db);
    await sql`insert into triggers (project_id, owner_id, description, token_hash, sealed_token, created_at,
      updated_at) ${numbers(24_999)}
      select ${id}, 1, 'crowd', 'crowd ' || n, '', 0, 0 from numbers`.execute(db);
    await sql`insert into runners (runner_type, tag_list, token_hash, token_start, created_at, updated_at, description)
      ${numbers(999)}
      select 'project_type', '[]', 'crowd ' || n, '', 0, 0, 'crowd' from numbers`.execute(db);
    await sql`insert into runner_projects (runner_id, project_id)
      select id, ${id} from runners where description = 'crowd'`.execute(db);
  });
  const runner = { runner_type: 'project_type', project_id: project.id };
  const kinds: [path: string, json: (at: number) => object, text: string][] = [
    [
      `${project.path}/variables`,
      (at) => ({ key: `LAST_${at}`, value: 'x' }),
      'Maximum number of project ci variables (8000) exceeded',
    ],
    [
      `${project.path}/triggers`,
      () => ({ description: 'last' }),
      'Maximum number of pipeline triggers (25000) exceeded',
    ],
    ['/user/runners', () => runner, 'Maximum number of ci registered project runners (1000) exceeded'],
  ];
  for (const [path, json, text] of kinds) {
    assert.equal((await gantry.api(`POST ${path}`, { json: json(0) })).status, 201, path);
    const refused = await gantry.api(`POST ${path}`, { json: json(1) });
    assert.deepEqual([refused.status, refused.body], [400, base(text)]);
  }
  const { id: another } = await seedRunner(gantry, {
    runner_type: 'project_type',
    projects: [(await seedPushed(gantry)).id],
  });
  const enabled = await gantry.api(`POST ${project.path}/runners`, { json: { runner_id: another } });
  assert.deepEqual(
    [enabled.status, enabled.body],
    [400, base('Maximum number of ci registered project runners (1000) exceeded')],
  );
});

test('limits the runner registrations from one address', async () => {
  const json = { token: 'gntrrt-none-such' };
  let last = await gantry.api('POST /runners', { as: null, json });
  assert.equal(last.status, 403);
  for (let at = 0; at < 300; at += 1) {
    last = await gantry.api('POST /runners', { as: null, json });
  }
  assert.deepEqual([last.status, last.body], [429, { message: '429 Too Many Requests' }]);
  const seconds = Number(last.headers.get('retry-after'));
  assert.ok(seconds > 0 && seconds <= 60, 'until the minute of the first registration ends');
  gantry.setTime(Date.now() + 61_000);
  assert.equal((await gantry.api('POST /runners', { as: null, json })).status, 403);
  gantry.setTime(null);
});

test('throttles a runner that polls without pause, and still gives it jobs at once', async () => {
  const project = await seedPushed(gantry);
  const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token });
  const hasty = { last_update: 'never' };
  gantry.setTime(Date.now());
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(Array.from({ length: 40 }, async () => await peer.poll(hasty).reply));
  }
  assert.equal((await peer.poll(hasty).reply).status, 204);
  const held = peer.poll(hasty);
  await project.push('job: { script: make }');
  assert.equal((await held.reply).status, 201);
  gantry.setTime(null);
  peer.close();
});
