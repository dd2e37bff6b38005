/** Tests runners as users see and change them. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { seedPipeline, setJob } from '../../../test/support/ci/jobs.ts';
import {
  type SeededGroup,
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let group: SeededGroup;
let project: SeededProject;
let other: SeededProject;
let owner: SeededUser;
let master: SeededUser;
let stranger: SeededUser;

before(async () => {
  gantry = await startTestService();
  [owner, master, stranger] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
});
after(async () => await gantry.close());

beforeEach(async () => {
  group = await seedGroup(gantry, { owner: owner.id });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  other = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
});

const tokenPattern = /^glrt-[\w-]{34}$/;
const day = 24 * 60 * 60_000;

const create = async (json: object, as?: string) => {
  const made = await gantry.api('POST /user/runners', { json, ...(as !== undefined && { as }) });
  assert.equal(made.status, 201, made.text);
  return made.body as { id: number; token: string };
};
const ofInstance = async (more: object = {}) => await create({ runner_type: 'instance_type', ...more });
const ofGroup = async (more: object = {}) =>
  await create({ runner_type: 'group_type', group_id: group.id, ...more }, owner.token);
const ofProject = async (more: object = {}, id = project.id) =>
  await create({ runner_type: 'project_type', project_id: id, ...more }, owner.token);

const ids = (body: { id: number }[]): number[] => body.map(({ id }) => id);
const status = async (line: string, as: string | null, json?: object): Promise<number> =>
  (await gantry.api(line, { as, ...(json !== undefined && { json }) })).status;

/** Backdates the creation and the last contact of a runner, in milliseconds. */
const age = async (id: number, made: number, heard: number | null): Promise<void> => {
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const contacted_at = heard === null ? null : now - heard;
    await db
      .updateTable('runners')
      .set({ created_at: now - made, contacted_at })
      .where('id', '=', id)
      .execute();
  });
};

describe('creating a runner', () => {
  it('returns all attributes, and the token once', async () => {
    const facts = {
      description: 'Big one',
      maintenance_note: 'In the cellar',
      paused: true,
      locked: true,
      access_level: 'ref_protected',
      run_untagged: false,
      tag_list: ['ruby', 'docker', 'ruby'],
      maximum_timeout: 3600,
    };
    const made = await gantry.api('POST /user/runners', {
      json: { runner_type: 'project_type', project_id: project.id, ...facts },
      as: master.token,
    });
    assert.deepEqual(Object.keys(made.body), ['id', 'token', 'token_expires_at']);
    assert.match(made.body.token, tokenPattern);
    const shown = (await gantry.api(`GET /runners/${made.body.id}`, { as: master.token })).body;
    assert.ok(Date.parse(shown.created_at) > 0);
    const { path, full_path } = project;
    assert.deepEqual(shown, {
      ...facts,
      id: made.body.id,
      active: false,
      is_shared: false,
      runner_type: 'project_type',
      name: null,
      online: false,
      status: 'never_contacted',
      ip_address: null,
      created_at: shown.created_at,
      tag_list: ['docker', 'ruby'],
      contacted_at: null,
      version: null,
      revision: null,
      platform: null,
      architecture: null,
      projects: [
        {
          id: project.id,
          description: null,
          name: path,
          path,
          path_with_namespace: full_path,
          web_url: `${gantry.url}/${full_path}`,
          created_at: shown.projects[0].created_at,
        },
      ],
      groups: [],
    });
    const rows = await gantry.service.platform.store.db.selectFrom('runners').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(made.body.token));
  });

  it('a new runner has the default attributes', async () => {
    const { id } = await ofInstance();
    const { body } = await gantry.api(`GET /runners/${id}`);
    const { paused, locked, access_level, run_untagged, tag_list, maximum_timeout, is_shared } = body;
    assert.deepEqual(
      { paused, locked, access_level, run_untagged, tag_list, maximum_timeout, is_shared },
      {
        paused: false,
        locked: false,
        access_level: 'not_protected',
        run_untagged: true,
        tag_list: [],
        maximum_timeout: null,
        is_shared: true,
      },
    );
  });

  const refused: [string, object, object][] = [
    [
      'neither tags nor jobs without',
      { run_untagged: false },
      { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
    ],
    ['too little time', { maximum_timeout: 599 }, { maximum_timeout: ['needs to be at least 10 minutes'] }],
    [
      'too many tags',
      { tag_list: Array.from({ length: 51 }, (_, at) => `tag${at}`) },
      { tags_list: ['Too many tags specified. Please limit the number of tags to 50'] },
    ],
    ['an unknown level', { access_level: 'x' }, { access_level: ['does not have a valid value'] }],
    [
      'a long note',
      { maintenance_note: 'x'.repeat(1025) },
      { maintenance_note: ['is too long (maximum is 1024 characters)'] },
    ],
  ];
  for (const [what, json, message] of refused) {
    it(`refuses ${what}`, async () => {
      const made = await gantry.api('POST /user/runners', {
        json: { runner_type: 'instance_type', ...json },
      });
      assert.equal(made.status, 400);
      assert.deepEqual(made.body, { message });
    });
  }

  it('needs the right to manage its owner', async () => {
    const at = 'POST /user/runners';
    const [instance, forGroup, forProject] = [
      { runner_type: 'instance_type' },
      { runner_type: 'group_type', group_id: group.id },
      { runner_type: 'project_type', project_id: project.id },
    ];
    assert.equal(await status(at, owner.token, instance), 403);
    assert.equal(await status(at, master.token, forGroup), 403);
    assert.equal(await status(at, stranger.token, forProject), 404);
    assert.equal(await status(at, null, forProject), 401);
    assert.equal(await status(at, owner.token, { runner_type: 'group_type' }), 400);
    assert.equal(await status(at, owner.token, { runner_type: 'project_type' }), 400);
  });

  it('works with a token of the scope create_runner', async () => {
    const scopes = ['create_runner'];
    const maker = await seedUser(gantry, { scopes });
    await seedMember(gantry, { user: maker.id, project: project.id, access_level: 40 });
    const json = { runner_type: 'project_type', project_id: project.id };
    assert.equal(await status('POST /user/runners', maker.token, json), 201);
    assert.equal(await status('GET /runners', maker.token), 403);
    assert.equal(await status(`POST /projects/${project.id}/runners`, maker.token, { runner_id: 1 }), 403);
    const reader = await seedUser(gantry, { scopes: ['read_api'] });
    await seedMember(gantry, { user: reader.id, project: project.id, access_level: 40 });
    assert.equal(await status('POST /user/runners', reader.token, json), 403);
  });
});

describe('a list of runners', () => {
  it('has the runners that a user manages', async () => {
    const [instance, inGroup, inProject, inOther] = [
      await ofInstance(),
      await ofGroup(),
      await ofProject(),
      await ofProject({}, other.id),
    ];
    const mine = await gantry.api('GET /runners', { as: master.token });
    assert.ok(ids(mine.body).includes(inProject.id));
    assert.ok(!ids(mine.body).includes(inOther.id));
    const theirs = ids((await gantry.api('GET /runners?per_page=100', { as: owner.token })).body);
    assert.deepEqual(
      theirs.filter((id) => id >= instance.id),
      [inGroup.id, inProject.id, inOther.id],
    );
    assert.deepEqual((await gantry.api('GET /runners', { as: stranger.token })).body, []);
    const all = ids((await gantry.api('GET /runners/all?per_page=100')).body);
    assert.deepEqual(
      all.filter((id) => id >= instance.id),
      [instance.id, inGroup.id, inProject.id, inOther.id],
    );
    assert.equal(await status('GET /runners/all', owner.token), 403);
  });

  it("has all runners that may take a project's jobs", async () => {
    const above = await seedGroup(gantry, { owner: owner.id });
    const below = await seedGroup(gantry, { parent: above.id });
    const { id } = await seedProject(gantry, { namespace: below.id });
    const inAbove = await create({ runner_type: 'group_type', group_id: above.id });
    const [instance, inProject] = [await ofInstance(), await ofProject({}, id)];
    await ofGroup();
    await ofProject();
    const list = async (more = '') =>
      ids((await gantry.api(`GET /projects/${id}/runners?per_page=100${more}`)).body);
    assert.deepEqual(
      (await list()).filter((one) => one >= inAbove.id),
      [inAbove.id, instance.id, inProject.id],
    );
    assert.deepEqual(await list('&type=project_type'), [inProject.id]);
    await gantry.api(`PUT /projects/${id}`, { json: { shared_runners_enabled: false } });
    assert.deepEqual(await list(), [inAbove.id, inProject.id]);
    assert.equal(await status(`GET /projects/${id}/runners`, stranger.token), 403);
    const ofTheGroup = await gantry.api(`GET /groups/${below.id}/runners?type=group_type`);
    assert.deepEqual(ids(ofTheGroup.body), [inAbove.id]);
    assert.equal(await status(`GET /groups/${group.id}/runners`, master.token), 403);
  });

  it('is filtered by type, tags, status and paused', async () => {
    const [plain, tagged, quoted, paused] = [
      await ofProject(),
      await ofProject({ tag_list: 'ruby, docker' }),
      await ofProject({ tag_list: ['x"ruby', 'docker-x'] }),
      await ofProject({ paused: true }),
    ];
    const [online, offline, stale] = [await ofProject(), await ofProject(), await ofProject()];
    await age(online.id, day, 60_000);
    await age(offline.id, day, 3 * 60 * 60_000);
    await age(stale.id, 9 * day, 8 * day);
    const list = async (query: string) =>
      ids((await gantry.api(`GET /projects/${project.id}/runners?type=project_type&${query}`)).body);
    const fresh = [plain.id, tagged.id, quoted.id, paused.id];
    assert.deepEqual(await list('tag_list=ruby'), [tagged.id]);
    assert.deepEqual(await list('tag_list=docker,ruby'), [tagged.id]);
    assert.deepEqual(await list('tag_list=Ruby'), []);
    assert.deepEqual(await list('tag_list=docker-x'), [quoted.id]);
    assert.deepEqual(await list('paused=true'), [paused.id]);
    assert.deepEqual(await list('status=paused'), [paused.id]);
    assert.deepEqual(await list('scope=paused'), [paused.id]);
    assert.deepEqual(await list('status=online'), [online.id]);
    assert.deepEqual(await list('status=offline'), [offline.id]);
    assert.deepEqual(await list('status=stale'), [stale.id]);
    assert.deepEqual(await list('status=never_contacted'), fresh);
    assert.deepEqual((await list('scope=specific')).length, 7);
    const shown = await gantry.api(`GET /projects/${project.id}/runners?type=project_type`);
    assert.deepEqual(
      shown.body.map((one: { status: string; online: boolean }) => [one.status, one.online]),
      [
        ...fresh.map(() => ['never_contacted', false]),
        ['online', true],
        ['offline', false],
        ['stale', false],
      ],
    );
  });
});

describe('a single runner', () => {
  it('is visible to maintainers of the projects it serves, and editable by those who manage it', async () => {
    const [instance, inGroup, inProject] = [await ofInstance(), await ofGroup(), await ofProject()];
    const rights = async (id: number, as: string) => [
      await status(`GET /runners/${id}`, as),
      await status(`GET /runners/${id}/managers`, as),
      await status(`GET /runners/${id}/jobs`, as),
      await status(`PUT /runners/${id}`, as, { description: 'Other' }),
      await status(`POST /runners/${id}/reset_authentication_token`, as),
    ];
    const [all, none, seen] = [
      [200, 200, 200, 200, 201],
      [404, 404, 404, 404, 404],
      [200, 403, 403, 403, 403],
    ];
    assert.deepEqual(await rights(instance.id, stranger.token), seen);
    assert.deepEqual(await rights(inGroup.id, stranger.token), none);
    assert.deepEqual(await rights(inGroup.id, master.token), seen);
    assert.deepEqual(await rights(inGroup.id, owner.token), all);
    assert.deepEqual(await rights(inProject.id, stranger.token), none);
    assert.deepEqual(await rights(inProject.id, master.token), all);
    assert.deepEqual(await status(`DELETE /runners/${inGroup.id}`, master.token), 403);
    assert.deepEqual(await status(`DELETE /runners/${inProject.id}`, master.token), 204);
    assert.deepEqual(await status(`GET /runners/${inProject.id}`, master.token), 404);
  });

  it('of several projects is editable by users who manage all of them', async () => {
    const { id } = await ofProject();
    const enable = await gantry.api(`POST /projects/${other.id}/runners`, {
      json: { runner_id: id },
      as: owner.token,
    });
    assert.deepEqual([enable.status, enable.body.id], [201, id]);
    assert.equal(await status(`GET /runners/${id}`, master.token), 200);
    assert.equal(await status(`PUT /runners/${id}`, master.token, { paused: true }), 403);
    assert.equal(await status(`POST /runners/${id}/reset_authentication_token`, master.token), 403);
    assert.equal(await status(`DELETE /runners/${id}`, master.token), 403);
    assert.equal(await status(`PUT /runners/${id}`, owner.token, { paused: true }), 200);
    const { projects } = (await gantry.api(`GET /runners/${id}`, { as: master.token })).body;
    assert.deepEqual(ids(projects), [project.id]);
  });

  it('is updated completely or not at all', async () => {
    const { id } = await ofProject({ tag_list: 'a' });
    const edit = async (json: object) => await gantry.api(`PUT /runners/${id}`, { json, as: master.token });
    const good = await edit({ active: false, tag_list: ['b', 'c'], maximum_timeout: 1200 });
    assert.deepEqual(
      [good.body.paused, good.body.tag_list, good.body.maximum_timeout],
      [true, ['b', 'c'], 1200],
    );
    const bad = await edit({ run_untagged: false, tag_list: '', paused: false });
    assert.equal(bad.status, 400);
    const after = (await gantry.api(`GET /runners/${id}`)).body;
    assert.deepEqual([after.paused, after.tag_list, after.run_untagged], [true, ['b', 'c'], true]);
    assert.equal((await edit({ maximum_timeout: null })).body.maximum_timeout, null);
    assert.equal((await edit({ paused: false })).body.active, true);
  });

  it('resetting a runner replaces its token', async () => {
    const { id, token } = await ofProject();
    const { body } = await gantry.api(`POST /runners/${id}/reset_authentication_token`, { as: master.token });
    assert.match(body.token, tokenPattern);
    const verify = async (input: string) =>
      await status('POST /runners/verify', null, { token: input, system_id: 's_1' });
    assert.deepEqual([await verify(token), await verify(body.token)], [403, 200]);
  });

  it('lists its jobs in projects that the caller manages', async () => {
    const { id } = await ofProject();
    await gantry.api(`POST /projects/${other.id}/runners`, { json: { runner_id: id } });
    const file = 'one: { script: make }\ntwo: { script: make }\n';
    const here = await seedPipeline(gantry, { project: project.id, file });
    const there = await seedPipeline(gantry, { project: other.id, file });
    const [one = 0, two = 0, elsewhere = 0] = [here.jobs['one'], here.jobs['two'], there.jobs['one']];
    await setJob(gantry, one, { runner_id: id, status: 'success', system_id: 's_1' });
    await setJob(gantry, two, { runner_id: id, status: 'running' });
    await setJob(gantry, elsewhere, { runner_id: id, status: 'failed' });
    const list = async (query: string, as: string) =>
      ids((await gantry.api(`GET /runners/${id}/jobs?${query}`, { as })).body);
    assert.deepEqual(
      await list('', master.token),
      [one, two].toSorted((a, b) => b - a),
    );
    assert.deepEqual(await list('status=running', master.token), [two]);
    assert.deepEqual(await list('system_id=s_1', owner.token), [one]);
    assert.deepEqual((await list('sort=asc', owner.token)).length, 3);
    const [job] = (await gantry.api(`GET /runners/${id}/jobs?status=success`, { as: master.token })).body;
    assert.deepEqual([job.name, job.status, job.project.id], ['one', 'success', project.id]);
    assert.equal(job.pipeline.id, here.id);
  });
});

describe('enabling for a project', () => {
  const enable = async (id: number, as = owner.token, into = other.id) =>
    await gantry.api(`POST /projects/${into}/runners`, { json: { runner_id: id }, as });

  it('works once, for maintainers of both projects', async () => {
    const { id } = await ofProject();
    assert.equal((await enable(id)).status, 201);
    const again = await enable(id);
    assert.deepEqual([again.status, again.body], [400, { message: { runner: ['has already been taken'] } }]);
    assert.equal(await status(`DELETE /projects/${other.id}/runners/${id}`, owner.token), 204);
    const gone = await gantry.api(`DELETE /projects/${other.id}/runners/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Runner Not Found' }]);
    const last = await gantry.api(`DELETE /projects/${project.id}/runners/${id}`);
    const reason = 'Only one project associated with the runner. Please remove the runner instead';
    assert.deepEqual([last.status, last.body], [403, { message: `403 Forbidden - ${reason}` }]);
  });

  it('a runner that is locked, of a group or of the instance cannot be enabled for a project', async () => {
    const [locked, inGroup, instance] = [
      await ofProject({ locked: true }),
      await ofGroup(),
      await ofInstance(),
    ];
    const told = async (id: number, as?: string) => (await enable(id, as)).body.message;
    assert.equal(await told(locked.id), '403 Forbidden - Runner is locked');
    assert.equal(await told(inGroup.id), '403 Forbidden - Runner is a group runner');
    assert.equal(await told(instance.id), '403 Forbidden - Runner is an instance runner');
    assert.equal(await told(0), '404 Runner Not Found');
    const own = await seedProject(gantry, { owner: stranger.id });
    const theirs = await ofProject();
    assert.equal((await enable(theirs.id, stranger.token, own.id)).status, 404);
    const mine = await seedProject(gantry, { owner: master.id });
    assert.equal((await enable(inGroup.id, master.token, mine.id)).status, 403);
    assert.equal((await enable(theirs.id, master.token, mine.id)).status, 201);
  });
});

it('records changes of runners in the audit log, without their tokens', async () => {
  const { id, token } = await ofProject();
  await gantry.api(`PUT /runners/${id}`, { json: { paused: true }, as: master.token });
  await gantry.api(`POST /runners/${id}/reset_authentication_token`, { as: master.token });
  await gantry.api(`DELETE /runners/${id}`, { as: master.token });
  const rows = await gantry.service.platform.store.db
    .selectFrom('audit_events')
    .selectAll()
    .where('target_type', '=', 'Runner')
    .where('target_id', '=', id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    rows.map(({ kind, actor_id }) => [kind, actor_id]),
    [
      ['runner.created', owner.id],
      ['runner.updated', master.id],
      ['runner.token_reset', master.id],
      ['runner.unregistered', master.id],
    ],
  );
  assert.ok(!JSON.stringify(rows).includes(token));
});
