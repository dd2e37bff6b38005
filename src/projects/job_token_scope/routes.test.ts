/** Allowlists of job tokens: who changes them, and what jobs then see. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { seedArtifact, buildZip } from '../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../test/support/ci/jobs.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { hashToken, generateTokenText } from '../../core/access/credentials/token_text.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Creates a user with a private project. */
const owned = async (
  namespace?: number,
): Promise<{ user: SeededUser; project: SeededProject; scope: string }> => {
  const user = await seedUser(gantry);
  const place = namespace === undefined ? { owner: user.id } : { namespace };
  const project = await seedProject(gantry, { ...place, visibility: 'private' });
  return { user, project, scope: `/projects/${project.id}/job_token_scope` };
};

/** Creates a running job with a token and an artifact. */
const running = async ({ id }: SeededProject, user: number): Promise<{ token: string; job: number }> => {
  const pipeline = await seedPipeline(gantry, { project: id, file: 'build: { script: make }', user });
  const token = generateTokenText(randomBytes, 'glcbt');
  const job = pipeline.jobs['build'] ?? 0;
  await setJob(gantry, job, { status: 'running', token_hash: hashToken(token), started_at: Date.now() });
  await seedArtifact(gantry, { id: job, project_id: id }, await buildZip({ a: 'a' }));
  return { token, job };
};

const idsOf = (body: { id: number }[]): number[] => body.map(({ id }) => id);

/** Returns what jobs of `app` see of an artifact of `library`. */
const reachOf = async (
  app: SeededProject,
  library: SeededProject,
  user: number,
): Promise<() => Promise<number>> => {
  const { token } = await running(app, user);
  const { job } = await running(library, 1);
  const line = `GET /projects/${library.id}/jobs/${job}/artifacts/a`;
  return async () => (await gantry.api(line, { as: null, headers: { 'job-token': token } })).status;
};

test('allows only own jobs until other projects are listed', async () => {
  const { user, project, scope } = await owned();
  const as = user.token;
  assert.deepEqual((await gantry.api(`GET ${scope}`, { as })).body, {
    inbound_enabled: true,
    outbound_enabled: false,
  });
  const own = await gantry.api(`GET ${scope}/allowlist`, { as });
  assert.deepEqual(idsOf(own.body), [project.id]);
  assert.deepEqual((await gantry.api(`GET ${scope}/groups_allowlist`, { as })).body, []);
  const other = await seedProject(gantry, { owner: user.id });
  const added = await gantry.api(`POST ${scope}/allowlist`, { as, json: { target_project_id: other.id } });
  assert.deepEqual(
    [added.status, added.body],
    [201, { source_project_id: project.id, target_project_id: other.id }],
  );
  const listed = await gantry.api(`GET ${scope}/allowlist`, { as });
  assert.deepEqual(idsOf(listed.body), [project.id, other.id]);
  assert.equal(listed.body[1].path_with_namespace, other.full_path);
  assert.equal(listed.headers.get('x-total'), '2');
  const second = await gantry.api(`GET ${scope}/allowlist?per_page=1&page=2`, { as });
  assert.deepEqual(idsOf(second.body), [other.id]);
  const gone = await gantry.api(`DELETE ${scope}/allowlist/${other.id}`, { as });
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.deepEqual(idsOf((await gantry.api(`GET ${scope}/allowlist`, { as })).body), [project.id]);
});

test('a listed group includes everything below it', async () => {
  const { user, project, scope } = await owned();
  const as = user.token;
  const group = await seedGroup(gantry, { owner: user.id });
  const below = await seedGroup(gantry, { parent: group.id });
  const beside = await seedGroup(gantry, { owner: user.id });
  const inside = await seedProject(gantry, { namespace: below.id, visibility: 'private' });
  const outside = await seedProject(gantry, { namespace: beside.id, visibility: 'private' });
  const [of, ofOther] = [await reachOf(inside, project, user.id), await reachOf(outside, project, user.id)];
  assert.deepEqual([await of(), await ofOther()], [404, 404]);
  const added = await gantry.api(`POST ${scope}/groups_allowlist`, {
    as,
    json: { target_group_id: group.id },
  });
  assert.deepEqual(
    [added.status, added.body],
    [201, { source_project_id: project.id, target_group_id: group.id }],
  );
  const [entry, ...others] = (await gantry.api(`GET ${scope}/groups_allowlist`, { as })).body;
  assert.deepEqual([entry.id, others], [group.id, []]);
  assert.match(entry.web_url, new RegExp(`/groups/${group.full_path}$`));
  assert.deepEqual([await of(), await ofOther()], [200, 404]);
  const removed = await gantry.api(`DELETE ${scope}/groups_allowlist/${group.id}`, { as });
  assert.equal(removed.status, 204);
  assert.equal(await of(), 404);
});

test('an allowed job reads what its user reads; changes apply to existing tokens', async () => {
  const { project, scope } = await owned();
  const app = await owned();
  const reach = await reachOf(app.project, project, app.user.id);
  const list = { json: { target_project_id: app.project.id } };
  assert.equal((await gantry.api(`POST ${scope}/allowlist`, list)).status, 201);
  assert.equal(await reach(), 404);
  await seedMember(gantry, { user: app.user.id, project: project.id, access_level: 30 });
  assert.equal(await reach(), 200);
  await gantry.api(`DELETE ${scope}/allowlist/${app.project.id}`);
  assert.equal(await reach(), 404);
  assert.equal((await gantry.api(`PATCH ${scope}`, { json: { enabled: false } })).status, 204);
  assert.equal(await reach(), 200);
  assert.equal((await gantry.api(`GET ${scope}`)).body.inbound_enabled, false);
  await gantry.api(`DELETE /projects/${project.id}/members/${app.user.id}`);
  assert.equal(await reach(), 404);
  // A job of an administrator has the role of a reporter.
  const roots = await reachOf(app.project, project, 1);
  assert.equal(await roots(), 200);
  await gantry.api(`PATCH ${scope}`, { json: { enabled: true } });
  assert.equal(await roots(), 404);
});

test('an entry works in one direction only', async () => {
  const one = await owned();
  const two = await owned();
  await seedMember(gantry, { user: one.user.id, project: two.project.id, access_level: 40 });
  await seedMember(gantry, { user: two.user.id, project: one.project.id, access_level: 40 });
  await gantry.api(`POST ${one.scope}/allowlist`, { json: { target_project_id: two.project.id } });
  assert.equal(await (await reachOf(two.project, one.project, two.user.id))(), 200);
  assert.equal(await (await reachOf(one.project, two.project, one.user.id))(), 404);
});

test('refuses invalid entries without changes', async () => {
  const { user, project, scope } = await owned();
  const as = user.token;
  const hidden = await owned();
  const group = await seedGroup(gantry, { visibility: 'private' });
  const post = async (path: string, json: object) => {
    const { status, body } = await gantry.api(`POST ${scope}/${path}`, { as, json });
    return [status, body.message ?? body.error];
  };
  assert.deepEqual(await post('allowlist', { target_project_id: project.id }), [
    400,
    { target_project_id: ["can't be the same as the source project"] },
  ]);
  assert.deepEqual(await post('allowlist', { target_project_id: hidden.project.id }), [
    404,
    '404 Project Not Found',
  ]);
  assert.deepEqual(await post('groups_allowlist', { target_group_id: group.id }), [
    404,
    '404 Group Not Found',
  ]);
  const other = await seedProject(gantry, { owner: user.id });
  assert.equal((await post('allowlist', { target_project_id: other.id }))[0], 201);
  assert.deepEqual(await post('allowlist', { target_project_id: other.id }), [
    400,
    { target_project_id: ['has already been taken'] },
  ]);
  for (const json of [
    {},
    { target_project_id: 'x' },
    { target_project_id: 0 },
    { target_project_id: 1e20 },
  ]) {
    const [status] = await post('allowlist', json);
    assert.ok(status === 400 || status === 404, JSON.stringify(json));
  }
  const removing = async (path: string) => (await gantry.api(`DELETE ${scope}/${path}`, { as })).status;
  assert.deepEqual(
    [
      await removing(`allowlist/${project.id}`),
      await removing(`allowlist/${hidden.project.id}`),
      await removing(`groups_allowlist/${group.id}`),
    ],
    [400, 404, 404],
  );
  assert.equal((await gantry.api(`PATCH ${scope}`, { as, json: {} })).status, 400);
  assert.deepEqual(idsOf((await gantry.api(`GET ${scope}/allowlist`, { as })).body), [project.id, other.id]);
});

test('omits hidden entries, which may still be removed', async () => {
  const { user, scope, project } = await owned();
  const hidden = await owned();
  await gantry.api(`POST ${scope}/allowlist`, { json: { target_project_id: hidden.project.id } });
  const mine = await gantry.api(`GET ${scope}/allowlist`, { as: user.token });
  assert.deepEqual([idsOf(mine.body), mine.headers.get('x-total')], [[project.id], '1']);
  const path = `DELETE ${scope}/allowlist/${hidden.project.id}`;
  assert.equal((await gantry.api(path, { as: user.token })).status, 204);
  assert.equal((await gantry.api(path, { as: user.token })).status, 404);
});

test('limits a list to two hundred entries', async () => {
  const { user, project, scope } = await owned();
  const ids: number[] = [];
  for (let at = 0; at < 200; at += 1) ids.push((await seedProject(gantry, { owner: user.id })).id);
  await gantry.service.platform.store.write(async ({ db, now }) => {
    const rows = ids.map((target_project_id) => ({
      project_id: project.id,
      target_project_id,
      created_at: now,
    }));
    await db.insertInto('job_token_projects').values(rows).execute();
  });
  const more = await seedProject(gantry, { owner: user.id });
  const { status, body } = await gantry.api(`POST ${scope}/allowlist`, {
    json: { target_project_id: more.id },
  });
  assert.deepEqual(
    [status, body.message],
    [400, { base: ['Maximum number of job token allowlist projects (200) exceeded'] }],
  );
});

test('records each change once in the audit log', async () => {
  const { user, project, scope } = await owned();
  const as = user.token;
  const other = await seedProject(gantry, { owner: user.id });
  await gantry.api(`PATCH ${scope}`, { as, json: { enabled: true } });
  await gantry.api(`PATCH ${scope}`, { as, json: { enabled: false } });
  await gantry.api(`POST ${scope}/allowlist`, { as, json: { target_project_id: other.id } });
  await gantry.api(`DELETE ${scope}/allowlist/${other.id}`, { as });
  const { body } = await gantry.api(`GET /audit_events?target_type=Project&target_id=${project.id}`);
  const told = (body as { event_name?: string; kind?: string; details: object }[]).map(
    ({ kind, details }) => [kind, details],
  );
  const project_id = project.id;
  assert.deepEqual(told, [
    ['job_token_scope.removed', { project_id, target_project_id: other.id }],
    ['job_token_scope.added', { project_id, target_project_id: other.id }],
    ['job_token_scope.changed', { project_id, enabled: false }],
  ]);
});
