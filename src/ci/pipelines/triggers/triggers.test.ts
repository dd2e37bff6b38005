import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashToken } from '../../../core/access/credentials/token_text.ts';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { loadPipelineVariables } from '../creation/pipeline_variables.ts';

const file = 'work: { script: make }\n';

let gantry: TestService;
let project: { id: number; full_path: string };
let path: string;
let master: SeededUser;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/projects/${project.id}`;
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': file });
  await seedCommit(gantry, project.id, { 'a.txt': 'a' }, { branch: 'a/topic', from: 'main' });
  await settle(gantry);
  master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const create = async (description = 'From outside', as = master.token) =>
  (await gantry.api(`POST ${path}/triggers`, { as, json: { description } })).body;

const run = async (json: object, under = `${path}/trigger/pipeline`) =>
  await gantry.api(`POST ${under}`, { as: null, json });

describe('a trigger', () => {
  it('is created, listed, read, edited and deleted', async () => {
    const made = await gantry.api(`POST ${path}/triggers`, {
      as: master.token,
      json: { description: 'One' },
    });
    assert.equal(made.status, 201, made.text);
    const { id, token, created_at, owner } = made.body;
    assert.match(token, /^glptt-[\w-]{30,}$/);
    assert.equal(owner.username, master.username);
    assert.deepEqual(made.body, {
      id,
      description: 'One',
      created_at,
      updated_at: created_at,
      deleted_at: null,
      last_used: null,
      token,
      owner,
    });
    assert.deepEqual((await gantry.api(`GET ${path}/triggers`, { as: master.token })).body, [made.body]);
    const json = { description: 'Two' };
    const edited = await gantry.api(`PUT ${path}/triggers/${id}`, { as: master.token, json });
    assert.deepEqual([edited.status, edited.body.description], [200, 'Two']);
    assert.equal((await gantry.api(`PUT ${path}/triggers/${id}`, { json })).status, 403);
    const blank = await gantry.api(`POST ${path}/triggers`, { json: { description: ' ' } });
    assert.deepEqual([blank.status, blank.body], [400, { message: { description: ["can't be blank"] } }]);
    assert.equal((await gantry.api(`DELETE ${path}/triggers/${id}`)).status, 204);
    const gone = await gantry.api(`GET ${path}/triggers/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Trigger Not Found' }]);
    assert.equal((await run({ token, ref: 'main' })).status, 404);
  });

  it('shows its token to its owner only, and stores it sealed', async () => {
    const { id, token } = await create();
    const seen = await gantry.api(`GET ${path}/triggers/${id}`);
    assert.equal(seen.body.token, token.slice('glptt-'.length, 'glptt-'.length + 4));
    assert.equal((await gantry.api(`GET ${path}/triggers/${id}`, { as: master.token })).body.token, token);
    const { db } = gantry.service.platform.store;
    const stored = [
      await db.selectFrom('triggers').selectAll().execute(),
      await db.selectFrom('events').selectAll().execute(),
    ];
    assert.ok(!JSON.stringify(stored).includes(token));
  });

  it('starts a pipeline with the rights of its owner', async () => {
    const { id, token } = await create();
    const started = await run({ token, ref: 'main', variables: { WHAT: 'this', WHERE: 'there' } });
    assert.equal(started.status, 201, started.text);
    const { body } = started;
    assert.deepEqual(
      [body.ref, body.source, body.user.id, body.project_id],
      ['main', 'trigger', master.id, project.id],
    );
    const { platform } = gantry.service;
    const variables = await loadPipelineVariables(platform, platform.store.db, body.id);
    assert.deepEqual(
      variables.map(({ key, value }) => [key, value]),
      [
        ['WHAT', 'this'],
        ['WHERE', 'there'],
      ],
    );
    const { last_used } = (await gantry.api(`GET ${path}/triggers/${id}`)).body;
    assert.ok(Date.parse(last_used) >= Date.parse(body.created_at));
  });

  it('accepts a form, the path of the project, and the ref in the address', async () => {
    const { token } = await create();
    const byPath = `/projects/${encodeURIComponent(project.full_path)}`;
    const started = await gantry.api(`POST ${byPath}/ref/a%2Ftopic/trigger/pipeline?token=${token}`, {
      as: null,
      form: 'variables[A]=1',
    });
    assert.deepEqual([started.status, started.body.ref], [201, 'a/topic']);
  });

  it('answers not found for a wrong token, whether or not the project exists', async () => {
    const other = await seedProject(gantry);
    const { token } = await create();
    const answers = [
      await run({ token: 'glptt-wrong', ref: 'main' }),
      await run({ token: 'glptt-wrong', ref: 'main', variables: 'x' }),
      await run({ token, ref: 'main' }, `/projects/${other.id}/trigger/pipeline`),
      await run({ token, ref: 'main' }, '/projects/4711/trigger/pipeline'),
    ];
    for (const { status, body } of answers) {
      assert.deepEqual([status, body], [404, { message: '404 Not found' }]);
    }
  });

  const refused: [string, object, object | string][] = [
    ['a ref that is not there', { ref: 'nowhere' }, { base: ['Reference not found'] }],
    [
      'variables that are no map',
      { ref: 'main', variables: ['a'] },
      'variables needs to be a map of key-valued strings',
    ],
    [
      'a variable that is no text',
      { ref: 'main', variables: { A: { b: 'c' } } },
      'variables needs to be a map of key-valued strings',
    ],
    ['no ref', {}, '400 (Bad request) "ref" not given'],
  ];
  for (const [what, json, message] of refused) {
    it(`called with ${what} is refused`, async () => {
      const { token } = await create();
      const { status, body } = await run({ token, ...json });
      assert.deepEqual([status, body], [400, { message }]);
    });
  }

  it('of a user without rights starts nothing', async () => {
    const passing = await seedUser(gantry);
    await seedMember(gantry, { user: passing.id, project: project.id, access_level: 40 });
    const { token } = await create('Passing', passing.token);
    await gantry.api(`DELETE ${path}/members/${passing.id}`);
    const { status, body } = await run({ token, ref: 'main' });
    const message = { base: ['Insufficient permissions to create a new pipeline'] };
    assert.deepEqual([status, body], [400, { message }]);
  });

  for (const [what, json] of [
    ['jobs are switched off', { builds_access_level: 'disabled' }],
    ['code is kept for reading alone', { archived: true }],
  ] as const) {
    it(`of a project whose ${what} starts nothing`, async () => {
      const own = await seedProject(gantry);
      await seedCommit(gantry, own.id, { '.gitlab-ci.yml': file });
      const made = await gantry.api(`POST /projects/${own.id}/triggers`, { json: { description: 'x' } });
      const changed =
        'archived' in json
          ? await gantry.api(`POST /projects/${own.id}/archive`)
          : await gantry.api(`PUT /projects/${own.id}`, { json });
      assert.ok(changed.status < 300, changed.text);
      const call = { token: made.body.token, ref: 'main' };
      const { status, body } = await run(call, `/projects/${own.id}/trigger/pipeline`);
      assert.deepEqual([status, body], [400, { message: { base: ['Pipeline is disabled'] } }]);
    });
  }
});

describe('a job token', () => {
  it('starts nothing, even if its user may', async () => {
    const pipeline = await seedPipeline(gantry, { project: project.id, file, user: master.id });
    const id = pipeline.jobs['work'] ?? 0;
    const token = 'glcbt-of-the-job';
    await setJob(gantry, id, { status: 'running', token_hash: hashToken(token) });
    assert.equal((await run({ token, ref: 'main' })).status, 404);
  });
});
