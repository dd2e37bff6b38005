import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { loadPipelineVariables } from '../creation/pipeline_variables.ts';
import { runSchedule } from './run_schedule.ts';

const file = 'work: { script: make }\nnightly: { script: make, only: [schedules] }\n';
const start = Date.UTC(2030, 5, 1, 12);
const hour = 3_600_000;

let gantry: TestService;
let project: number;
let path: string;
let owner: SeededUser;
before(async () => {
  gantry = await startTestService();
  project = (await seedProject(gantry)).id;
  path = `/projects/${project}/pipeline_schedules`;
  await seedCommit(gantry, project, { '.gitlab-ci.yml': file });
  await settle(gantry);
  owner = await seedUser(gantry);
  await seedMember(gantry, { user: owner.id, project, access_level: 40 });
});
afterEach(() => gantry.setTime(null));
after(async () => await gantry.close());

const usual = { description: 'Every hour', ref: 'main', cron: '0 * * * *' };

const create = async (json: object = {}, as = owner.token) =>
  await gantry.api(`POST ${path}`, { as, json: { ...usual, ...json } });

const made = async (json: object = {}, as?: string) => {
  const reply = await create(json, as);
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

const read = async (id: number, as = owner.token) => (await gantry.api(`GET ${path}/${id}`, { as })).body;

/** Pipelines created by schedules, newest first. */
const pipelines = async () => {
  const { db } = gantry.service.platform.store;
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project)
    .where('source', '=', 'schedule')
    .orderBy('id', 'desc')
    .execute();
};

const off = async (id: number): Promise<void> =>
  void (await gantry.api(`PUT ${path}/${id}`, { as: owner.token, json: { active: false } }));

describe('a schedule', () => {
  it('is created, listed, read, edited and deleted', async () => {
    gantry.setTime(start + 1);
    const body = await made({ cron_timezone: 'Asia/Kolkata' });
    const { id, created_at, owner: shown } = body;
    assert.equal(shown.username, owner.username);
    const listed = {
      id,
      ...usual,
      cron_timezone: 'Asia/Kolkata',
      next_run_at: '2030-06-01T12:30:00.000Z',
      active: true,
      created_at,
      updated_at: created_at,
      owner: shown,
    };
    assert.deepEqual(body, { ...listed, last_pipeline: null, variables: [], inputs: [] });
    assert.deepEqual((await gantry.api(`GET ${path}`)).body, [listed]);
    const json = { cron: '0 5 * * *', active: false, description: 'Daily', cron_timezone: 'UTC' };
    const edited = await gantry.api(`PUT ${path}/${id}`, { as: owner.token, json });
    assert.equal(edited.status, 200, edited.text);
    assert.deepEqual(await read(id), { ...body, ...json, next_run_at: '2030-06-02T05:00:00.000Z' });
    assert.deepEqual((await gantry.api(`GET ${path}?scope=active`)).body, []);
    assert.equal((await gantry.api(`GET ${path}?scope=inactive`)).body.length, 1);
    assert.equal((await gantry.api(`DELETE ${path}/${id}`, { as: owner.token })).status, 204);
    const gone = await gantry.api(`GET ${path}/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Pipeline Schedule Not Found' }]);
  });

  it('a schedule with invalid values is refused', async () => {
    const refused = await create({ cron: 'often', cron_timezone: 'Nowhere', description: ' ' });
    const message = {
      description: ["can't be blank"],
      cron: ['is invalid syntax'],
      cron_timezone: ['is invalid syntax'],
    };
    assert.deepEqual([refused.status, refused.body], [400, { message }]);
    const { body } = await gantry.api(`POST ${path}`, { json: { ref: 'main', cron: '* * * * *' } });
    assert.deepEqual(body, { message: '400 (Bad request) "description" not given' });
  });

  it('of a protected branch requires the right to write to it', async () => {
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project, access_level: 30 });
    assert.equal((await create({}, developer.token)).status, 403);
    const { id } = await made({ ref: 'topic', active: false }, developer.token);
    const moved = await gantry.api(`PUT ${path}/${id}`, { as: developer.token, json: { ref: 'main' } });
    assert.equal(moved.status, 403);
  });

  it('is edited by its owner only; a maintainer takes ownership first', async () => {
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project, access_level: 30 });
    const { id } = await made({ ref: 'topic', active: false }, developer.token);
    const json = { key: 'A', value: 'x' };
    assert.equal(
      (await gantry.api(`POST ${path}/${id}/variables`, { as: developer.token, json })).status,
      201,
    );
    const edit = async () =>
      (await gantry.api(`PUT ${path}/${id}`, { as: owner.token, json: { description: 'Mine' } })).status;
    assert.equal(await edit(), 403);
    assert.equal((await read(id)).variables, undefined);
    const taken = await gantry.api(`POST ${path}/${id}/take_ownership`, { as: owner.token });
    assert.deepEqual([taken.status, taken.body.owner.id], [201, owner.id]);
    assert.equal(await edit(), 200);
    assert.equal((await read(id)).variables.length, 1);
    const back = await gantry.api(`POST ${path}/${id}/take_ownership`, { as: developer.token });
    assert.equal(back.status, 403);
    assert.equal((await gantry.api(`DELETE ${path}/${id}`, { as: developer.token })).status, 403);
  });
});

describe('variables of a schedule', () => {
  it('variables of a schedule are added, edited and removed', async () => {
    const { id } = await made({ active: false });
    const variables = `${path}/${id}/variables`;
    const json = { key: 'KEY', value: 'a secret of the store', variable_type: 'file' };
    const reply = await gantry.api(`POST ${variables}`, { as: owner.token, json });
    assert.deepEqual([reply.status, reply.body], [201, { ...json, raw: false }]);
    const again = await gantry.api(`POST ${variables}`, { as: owner.token, json });
    assert.deepEqual([again.status, again.body], [400, { message: { key: ['has already been taken'] } }]);
    const rows = await gantry.service.platform.store.db
      .selectFrom('pipeline_schedule_variables')
      .selectAll()
      .execute();
    assert.ok(!JSON.stringify(rows).includes('a secret of the store'));
    const edited = await gantry.api(`PUT ${variables}/KEY`, { as: owner.token, json: { value: 'b' } });
    assert.deepEqual(edited.body, { ...json, value: 'b', raw: false });
    assert.deepEqual((await read(id)).variables, [edited.body]);
    const taken = await gantry.api(`DELETE ${variables}/KEY`, { as: owner.token });
    assert.deepEqual([taken.status, taken.body], [202, edited.body]);
    assert.equal((await gantry.api(`DELETE ${variables}/KEY`, { as: owner.token })).status, 404);
    const wrong = await gantry.api(`POST ${variables}`, { as: owner.token, json: { key: 'A-B', value: '' } });
    assert.equal(wrong.status, 400);
  });
});

describe('a schedule that is due', () => {
  it('creates one pipeline with its variables at each due time', async () => {
    gantry.setTime(start + 1);
    const { id } = await made({ ref: 'refs/heads/main' });
    await gantry.api(`POST ${path}/${id}/variables`, {
      as: owner.token,
      json: { key: 'WHEN', value: 'night' },
    });
    const count = (await pipelines()).length;
    gantry.setTime(start + hour - 1);
    await settle(gantry);
    assert.equal((await pipelines()).length, count);
    gantry.setTime(start + hour);
    await settle(gantry);
    const [pipeline, ...others] = await pipelines();
    assert.equal(others.length, count);
    assert.deepEqual([pipeline?.ref, pipeline?.user_id, pipeline?.source], ['main', owner.id, 'schedule']);
    const { platform } = gantry.service;
    const variables = await loadPipelineVariables(platform, platform.store.db, pipeline?.id ?? 0);
    assert.deepEqual(
      variables.map(({ key, value }) => [key, value]),
      [['WHEN', 'night']],
    );
    const jobs = await gantry.api(`GET /projects/${project}/pipelines/${pipeline?.id}/jobs`);
    assert.deepEqual(jobs.body.map(({ name }: { name: string }) => name).toSorted(), ['nightly', 'work']);
    const { next_run_at, last_pipeline } = await read(id);
    assert.deepEqual([next_run_at, last_pipeline.id], ['2030-06-01T14:00:00.000Z', pipeline?.id]);
    gantry.setTime(start + 2 * hour);
    await settle(gantry);
    assert.equal((await pipelines()).length, count + 2);
    await off(id);
    gantry.setTime(start + 3 * hour);
    await settle(gantry);
    assert.equal((await pipelines()).length, count + 2);
  });

  it('is run by one of several concurrent workers', async () => {
    gantry.setTime(start + 1);
    const { id } = await made();
    const count = (await pipelines()).length;
    await gantry.service.worker.stop();
    gantry.setTime(start + 50 * hour);
    const { platform } = gantry.service;
    await Promise.all(Array.from({ length: 5 }, async () => await runSchedule(platform, id)));
    assert.equal((await pipelines()).length, count + 1);
    assert.equal((await read(id)).next_run_at, '2030-06-03T15:00:00.000Z');
    await off(id);
  });

  it('is deactivated when its owner lost the right to run it', async () => {
    const passing = await seedUser(gantry);
    await seedMember(gantry, { user: passing.id, project, access_level: 40 });
    gantry.setTime(start + 1);
    const { id } = await made({}, passing.token);
    const count = (await pipelines()).length;
    await gantry.api(`DELETE /projects/${project}/members/${passing.id}`);
    gantry.setTime(start + hour);
    await runSchedule(gantry.service.platform, id);
    assert.equal((await read(id)).active, false);
    assert.equal((await pipelines()).length, count);
  });

  it('stays active when its branch is missing', async () => {
    gantry.setTime(start + 1);
    const { id } = await made({ ref: 'not-yet' });
    gantry.setTime(start + hour);
    await runSchedule(gantry.service.platform, id);
    const { active, next_run_at, last_pipeline } = await read(id);
    assert.deepEqual([active, next_run_at, last_pipeline], [true, '2030-06-01T14:00:00.000Z', null]);
    await off(id);
  });
});

describe('a schedule that is played', () => {
  it('runs now, on behalf of the user who plays it', async () => {
    const { id, next_run_at } = await made({ active: false });
    const played = await gantry.api(`POST ${path}/${id}/play`);
    assert.deepEqual([played.status, played.body], [201, { message: '201 Created' }]);
    const [pipeline] = await pipelines();
    assert.equal(pipeline?.user_id, 1);
    const after = await read(id);
    assert.deepEqual([after.last_pipeline.id, after.next_run_at], [pipeline?.id, next_run_at]);
    await gantry.api(`POST ${path}/${id}/play`);
    const ids = async (query: string): Promise<number[]> =>
      (await gantry.api(`GET ${path}/${id}/pipelines${query}`)).body.map((one: { id: number }) => one.id);
    const [newest] = await pipelines();
    assert.deepEqual(await ids(''), [pipeline?.id, newest?.id]);
    assert.deepEqual(await ids('?sort=desc&per_page=1'), [newest?.id]);
    const listed = await gantry.api(`GET ${path}/${id}/pipelines?page=2&per_page=1`);
    assert.deepEqual([listed.headers.get('x-total'), listed.body[0].source], ['2', 'schedule']);
    const none = await gantry.api(`GET ${path}/999999/pipelines`);
    assert.deepEqual([none.status, none.body], [404, { message: '404 Pipeline Schedule Not Found' }]);
    const { id: nowhere } = await made({ ref: 'not-yet', active: false });
    const refused = await gantry.api(`POST ${path}/${nowhere}/play`);
    assert.deepEqual([refused.status, refused.body], [400, { message: { base: ['Reference not found'] } }]);
  });
});
