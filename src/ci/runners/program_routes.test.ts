/** Tests the endpoints that runner programs call: register, verify, reset, remove. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { createBuiltInRunner } from './registration/create_built_in_runner.ts';
import { recordContact } from './record_contact.ts';
import { findRunnerByToken } from './find_by_token.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const nobody = { as: null };

const call = async (line: string, json: object, headers: Record<string, string> = {}) =>
  await gantry.api(line, { ...nobody, json, headers });

const registrationToken = async (path = ''): Promise<string> => {
  const made = await gantry.api(`POST ${path}/runners/reset_registration_token`);
  assert.deepEqual([made.status, made.body.token_expires_at], [201, null]);
  return made.body.token as string;
};

const registered = async (token: string, more: object = {}) => {
  const made = await call('POST /runners', { token, ...more });
  assert.equal(made.status, 201, made.text);
  return made.body as { id: number; token: string; token_expires_at: null };
};

const shown = async (id: number) => (await gantry.api(`GET /runners/${id}`)).body;

describe('registering a runner', () => {
  it('creates one of the instance, a group or a project, by its token', async () => {
    const group = await seedGroup(gantry);
    const project = await seedProject(gantry);
    const instance = await registered(await registrationToken());
    const inGroup = await registered(await registrationToken(`/groups/${group.id}`));
    const inProject = await registered(await registrationToken(`/projects/${project.id}`));
    assert.deepEqual(Object.keys(instance), ['id', 'token', 'token_expires_at']);
    assert.match(instance.token, /^glrtr-[\w-]{34}$/);
    assert.equal((await shown(instance.id)).runner_type, 'instance_type');
    assert.deepEqual((await shown(inGroup.id)).groups[0].id, group.id);
    assert.deepEqual((await shown(inProject.id)).projects[0].id, project.id);
  });

  it('stores its attributes, also under their old names', async () => {
    const token = await registrationToken();
    const { id } = await registered(token, {
      description: 'Of old',
      maintainer_note: 'A note',
      active: false,
      tag_list: 'b,a',
      run_untagged: false,
      access_level: 'ref_protected',
      maximum_timeout: 0,
      info: { name: 'gitlab-runner', version: '10.0.0', features: { variables: true } },
    });
    const { description, maintenance_note, paused, tag_list, run_untagged, access_level, maximum_timeout } =
      await shown(id);
    assert.deepEqual(
      [description, maintenance_note, paused, tag_list, run_untagged, access_level, maximum_timeout],
      ['Of old', 'A note', true, ['a', 'b'], false, 'ref_protected', null],
    );
  });

  it('a registration with invalid attributes is refused', async () => {
    const json = { token: await registrationToken(), run_untagged: false, tag_list: '' };
    const { status, body } = await call('POST /runners', json);
    const text = 'can not be empty when runner is not allowed to pick untagged jobs';
    assert.deepEqual([status, body], [400, { message: { tags_list: [text] } }]);
  });

  it('refuses an unknown token, a token that was reset, and one whose owner is gone', async () => {
    const project = await seedProject(gantry);
    const old = await registrationToken(`/projects/${project.id}`);
    const own = await registrationToken(`/projects/${project.id}`);
    const status = async (token: string) => (await call('POST /runners', { token })).status;
    assert.deepEqual(
      [await status('gntrrt-of-nobody'), await status(old), await status(own)],
      [403, 403, 201],
    );
    assert.equal((await call('POST /runners', {})).status, 400);
    await gantry.api(`DELETE /projects/${project.id}`);
    assert.equal(await status(own), 403);
  });

  it('uses a token that only maintainers can read, stored as a hash', async () => {
    const group = await seedGroup(gantry);
    const project = await seedProject(gantry, { namespace: group.id });
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, group: group.id, access_level: 30 });
    for (const path of ['', `/groups/${group.id}`, `/projects/${project.id}`]) {
      const line = `POST ${path}/runners/reset_registration_token`;
      assert.equal((await gantry.api(line, { as: developer.token })).status, 403);
      const token = await registrationToken(path);
      const { db } = gantry.service.platform.store;
      const rows = [
        await db.selectFrom('instance').selectAll().execute(),
        await db.selectFrom('projects').selectAll().execute(),
        await db.selectFrom('namespaces').selectAll().execute(),
        await db.selectFrom('audit_events').selectAll().execute(),
      ];
      assert.ok(!JSON.stringify(rows).includes(token));
    }
  });
});

describe('verifying a runner', () => {
  it('accepts its token in the body or in the header', async () => {
    const { id, token } = await registered(await registrationToken());
    const good = await call('POST /runners/verify', { token, system_id: 's_1' });
    assert.deepEqual([good.status, good.body], [200, { id, token, token_expires_at: null }]);
    const inHeader = await call('POST /runners/verify', {}, { 'runner-token': token });
    assert.deepEqual([inHeader.status, inHeader.body.id], [200, id]);
    const bad = await call('POST /runners/verify', { token: 'glrt-nobody' }, { 'runner-token': token });
    assert.deepEqual([bad.status, bad.body], [403, { message: '403 Forbidden' }]);
    assert.equal((await call('POST /runners/verify', {})).status, 400);
  });

  it('refuses a runner whose projects are gone', async () => {
    const project = await seedProject(gantry);
    const { id, token } = await registered(await registrationToken(`/projects/${project.id}`));
    const { store } = gantry.service.platform;
    await store.write(
      async ({ db }) => await db.deleteFrom('runner_projects').where('runner_id', '=', id).execute(),
    );
    assert.equal((await call('POST /runners/verify', { token })).status, 422);
  });

  it('verifying a runner stores the facts of its machine, which the API shows', async () => {
    const { id, token } = await registered(await registrationToken());
    const info = {
      version: '19.4.0',
      revision: 'abc',
      platform: 'linux',
      architecture: 'amd64',
      executor: 'shell',
    };
    await call('POST /runners/verify', { token, system_id: 's_1', info });
    await until('the contact is recorded', async () => (await shown(id)).contacted_at !== null);
    const { status, online, version, platform, ip_address } = await shown(id);
    assert.deepEqual(
      { status, online, version, platform, ip_address },
      { status: 'online', online: true, version: '19.4.0', platform: 'linux', ip_address: '127.0.0.1' },
    );
    const [machine] = (await gantry.api(`GET /runners/${id}/managers`)).body;
    assert.deepEqual(
      [machine.system_id, machine.version, machine.executor, machine.status],
      ['s_1', '19.4.0', 'shell', 'online'],
    );
  });

  it('accepts any `info`', async () => {
    const { id, token } = await registered(await registrationToken());
    const info = { version: 7, revision: ['x'], platform: 'x'.repeat(1000), architecture: 'a\0b' };
    assert.equal((await call('POST /runners/verify', { token, system_id: 's_1', info })).status, 200);
    await until('the contact is recorded', async () => (await shown(id)).contacted_at !== null);
    const { version, revision, platform, architecture } = await shown(id);
    assert.deepEqual([version, revision, platform.length, architecture], [null, null, 255, 'ab']);
    assert.equal((await call('POST /runners/verify', { token, info: 'text' })).status, 200);
  });
});

describe('removing a runner', () => {
  it('removing a runner revokes its token', async () => {
    const { id, token } = await registered(await registrationToken());
    assert.equal((await call('DELETE /runners', { token })).status, 204);
    assert.equal((await gantry.api(`GET /runners/${id}`)).status, 404);
    assert.equal((await call('DELETE /runners', { token })).status, 403);
  });

  it('removing a machine keeps the other machines of the runner', async () => {
    const { id, token } = await registered(await registrationToken());
    for (const system_id of ['s_1', 's_2']) await call('POST /runners/verify', { token, system_id });
    const machines = async () =>
      (await gantry.api(`GET /runners/${id}/managers`)).body as { system_id: string }[];
    await until('both machines are recorded', async () => (await machines()).length === 2);
    const remove = async (json: object) => (await call('DELETE /runners/managers', json)).status;
    assert.equal(await remove({ token, system_id: 's_1' }), 204);
    assert.equal(await remove({ token, system_id: 's_1' }), 404);
    assert.equal(await remove({ token }), 400);
    assert.equal(await remove({ token: 'glrt-nobody', system_id: 's_2' }), 403);
    assert.deepEqual(
      (await machines()).map(({ system_id }) => system_id),
      ['s_2'],
    );
  });

  it('is refused for a created runner, whose token can be reset', async () => {
    const { token } = await registered(await registrationToken());
    const { status, body } = await call('POST /runners/reset_authentication_token', { token });
    assert.deepEqual([status, body.token_expires_at], [201, null]);
    assert.match(body.token, /^glrtr-/);
    assert.equal((await call('POST /runners/reset_authentication_token', { token })).status, 403);
    assert.equal((await call('POST /runners/verify', { token: body.token })).status, 200);
  });

  it('keeps user tokens and runner tokens apart', async () => {
    const user = await seedUser(gantry, { admin: 1 });
    const { token } = await registered(await registrationToken());
    assert.equal((await call('POST /runners/verify', { token: user.token })).status, 403);
    assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
  });
});

describe('contact times', () => {
  /** How often a contact was written: each write raises it by as much as the clock moved. */
  const heard = async (id: number): Promise<number | null> => {
    const { db } = gantry.service.platform.store;
    const row = await db.selectFrom('runners').select('contacted_at').where('id', '=', id).executeTakeFirst();
    return row?.contacted_at ?? null;
  };

  it('are written once a minute for each machine', async () => {
    const { platform } = gantry.service;
    const { id, token } = await registered(await registrationToken());
    const runner = await findRunnerByToken(platform.store.db, token);
    assert.equal(runner?.id, id);
    const begin = Date.now();
    const at = async (time: number, system_id: string | null): Promise<number | null> => {
      gantry.setTime(time);
      recordContact(platform, { id }, { system_id, info: null, ip: '127.0.0.1' });
      // Writes are ordered: once this one is visible, so are all earlier ones.
      await until('the contact is recorded', async () => (await heard(id)) !== null);
      await platform.store.write(async ({ db }) => await db.selectFrom('runners').select('id').execute());
      return await heard(id);
    };
    try {
      assert.equal(await at(begin, 's_1'), begin);
      assert.equal(await at(begin + 59_999, 's_1'), begin);
      await until('it is recorded', async () => (await at(begin + 60_000, 's_1')) === begin + 60_000);
      await until('it is recorded', async () => (await at(begin + 60_001, null)) === begin + 60_001);
      assert.equal(await at(begin + 60_002, null), begin + 60_001);
    } finally {
      gantry.setTime(null);
    }
  });
});

describe('the built-in runner', () => {
  it('is created once, and gets a new token each time', async () => {
    const { platform } = gantry.service;
    const first = await createBuiltInRunner(platform);
    const second = await createBuiltInRunner(platform);
    assert.equal(second.id, first.id);
    assert.equal((await shown(first.id)).runner_type, 'instance_type');
    assert.equal(await findRunnerByToken(platform.store.db, first.token), null);
    assert.equal((await findRunnerByToken(platform.store.db, second.token))?.id, first.id);
    await gantry.api(`DELETE /runners/${first.id}`);
    const third = await createBuiltInRunner(platform);
    assert.notEqual(third.id, first.id);
    assert.equal((await call('POST /runners/verify', { token: third.token })).status, 200);
  });

  it('is a separate one for another service on the same database', async () => {
    const { platform } = gantry.service;
    const first = await createBuiltInRunner(platform);
    const other = await createBuiltInRunner({
      ...platform,
      config: { ...platform.config, data: `${platform.config.data}-other` },
    });
    assert.notEqual(other.id, first.id);
    assert.equal((await call('POST /runners/verify', { token: first.token })).status, 200);
  });
});
