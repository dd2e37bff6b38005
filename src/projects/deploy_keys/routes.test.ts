import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { freshKey } from '../../../test/support/repositories/ssh_keys.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const add = async (project: number, as: string, json: object) =>
  await gantry.api(`POST /projects/${project}/deploy_keys`, { as, json });

/** Creates a user with projects. */
const owner = async (count = 1) => {
  const user = await seedUser(gantry);
  const projects: number[] = [];
  for (let made = 0; made < count; made += 1) {
    projects.push((await seedProject(gantry, { owner: user.id, visibility: 'private' })).id);
  }
  return { ...user, projects: projects as [number, ...number[]] };
};

const audited = async (kind: string, id: number): Promise<number> =>
  (await gantry.api(`GET /audit_events?kind=${kind}&target_type=Key&target_id=${id}`)).body.length;

test('adds, reads, changes and removes a deploy key', async () => {
  const { token, projects } = await owner();
  const [id] = projects;
  const { status, body } = await add(id, token, { title: 'Robot', key: freshKey('robot'), can_push: true });
  assert.deepEqual([status, body.title, body.can_push], [201, 'Robot', true]);
  assert.match(body.fingerprint_sha256, /^SHA256:.{43}$/);
  const path = `/projects/${id}/deploy_keys`;
  assert.deepEqual((await gantry.api(`GET ${path}`, { as: token })).body, [body]);
  assert.deepEqual((await gantry.api(`GET ${path}/${body.id}`, { as: token })).body, body);
  const changed = await gantry.api(`PUT ${path}/${body.id}`, {
    as: token,
    json: { title: 'Other', can_push: false },
  });
  assert.deepEqual([changed.status, changed.body], [200, { ...body, title: 'Other', can_push: false }]);
  assert.deepEqual((await gantry.api(`GET ${path}`, { as: token })).body, [changed.body]);
  assert.equal((await gantry.api(`DELETE ${path}/${body.id}`, { as: token })).status, 204);
  assert.deepEqual((await gantry.api(`GET ${path}`, { as: token })).body, []);
  assert.equal((await gantry.api(`GET /keys/${body.id}`)).status, 404);
  const kinds = ['key.created', 'key.enabled', 'key.updated', 'key.disabled', 'key.deleted'];
  assert.deepEqual(await Promise.all(kinds.map((kind) => audited(kind, body.id))), [1, 1, 1, 1, 1]);
});

test('projects share a key, each with its own push permission', async () => {
  const { token, projects } = await owner(2);
  const [one, two = 0] = projects;
  const key = freshKey('shared');
  const { body } = await add(one, token, { key, can_push: true });
  const enabled = await gantry.api(`POST /projects/${two}/deploy_keys/${body.id}/enable`, { as: token });
  assert.deepEqual([enabled.status, enabled.body], [201, { ...body, can_push: false }]);
  const again = await gantry.api(`POST /projects/${one}/deploy_keys/${body.id}/enable`, { as: token });
  assert.deepEqual([again.status, again.body.can_push], [201, true]);
  const [shown] = (await gantry.api('GET /deploy_keys?per_page=100')).body.filter(
    (one: { id: number }) => one.id === body.id,
  );
  const ids = (list: { id: number }[]): number[] => list.map((project) => project.id);
  assert.deepEqual(ids(shown.projects_with_write_access), [one]);
  assert.deepEqual(ids(shown.projects_with_readonly_access), [two]);
  assert.equal(
    (await gantry.api(`DELETE /projects/${one}/deploy_keys/${body.id}`, { as: token })).status,
    204,
  );
  assert.equal((await gantry.api(`GET /projects/${two}/deploy_keys/${body.id}`, { as: token })).status, 200);
});

test('adding a key to a second project reuses its record', async () => {
  const { token, projects } = await owner(2);
  const [one, two = 0] = projects;
  const key = freshKey('twice');
  const first = await add(one, token, { key });
  const second = await add(two, token, { key, can_push: true });
  assert.deepEqual([second.status, second.body.id, second.body.can_push], [201, first.body.id, true]);
  const third = await add(one, token, { key, can_push: true });
  assert.deepEqual([third.status, third.body.id, third.body.can_push], [201, first.body.id, false]);
});

test('refuses a key of other users’ projects', async () => {
  const [one, other] = [await owner(), await owner()];
  const key = freshKey('theirs');
  const { body } = await add(one.projects[0], one.token, { key });
  const taken = await add(other.projects[0], other.token, { key });
  assert.deepEqual(
    [taken.status, taken.body],
    [400, { message: { fingerprint: ['has already been taken'] } }],
  );
  for (const id of [body.id, 999_999]) {
    const reply = await gantry.api(`POST /projects/${other.projects[0]}/deploy_keys/${id}/enable`, {
      as: other.token,
    });
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Deploy Key Not Found' }]);
  }
});

test('a key belongs to a user or to projects, not both', async () => {
  const { token, projects } = await owner();
  const [mine, robots] = [freshKey('mine'), freshKey('robots')];
  const { body } = await gantry.api('POST /user/keys', { as: token, json: { key: mine } });
  assert.equal((await add(projects[0], token, { key: mine })).status, 400);
  const enable = `POST /projects/${projects[0]}/deploy_keys/${body.id}/enable`;
  assert.equal((await gantry.api(enable, { as: token })).status, 404);
  await add(projects[0], token, { key: robots });
  assert.equal((await gantry.api('POST /user/keys', { as: token, json: { key: robots } })).status, 400);
});

test('refuses to rename a key that other users’ projects share', async () => {
  const [one, other] = [await owner(), await owner()];
  const { body } = await add(one.projects[0], one.token, { key: freshKey('both') });
  await gantry.api(`POST /projects/${other.projects[0]}/deploy_keys/${body.id}/enable`);
  const path = `PUT /projects/${other.projects[0]}/deploy_keys/${body.id}`;
  assert.equal((await gantry.api(path, { as: other.token, json: { title: 'Mine' } })).status, 403);
  const push = await gantry.api(path, { as: other.token, json: { can_push: true } });
  assert.deepEqual([push.status, push.body.can_push, push.body.title], [200, true, 'both']);
});

test('deploy keys require the maintainer role', async () => {
  const { projects, token } = await owner();
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: projects[0], access_level: 30 });
  const { body } = await add(projects[0], token, { key: freshKey('x') });
  const path = `/projects/${projects[0]}/deploy_keys`;
  for (const line of [`GET ${path}`, `GET ${path}/${body.id}`, `DELETE ${path}/${body.id}`]) {
    assert.equal((await gantry.api(line, { as: developer.token })).status, 403);
  }
});

test('deletes a key with its last project', async () => {
  const { token, projects } = await owner(2);
  const [one, two = 0] = projects;
  const alone = (await add(one, token, { key: freshKey('alone') })).body.id;
  const shared = (await add(one, token, { key: freshKey('shared') })).body.id;
  await gantry.api(`POST /projects/${two}/deploy_keys/${shared}/enable`, { as: token });
  await gantry.api(`DELETE /projects/${one}`);
  await gantry.service.worker.drain();
  assert.equal((await gantry.api(`GET /keys/${alone}`)).status, 404);
  assert.equal((await gantry.api(`GET /keys/${shared}`)).status, 200);
});

test('a key of the instance is enabled by maintainers of any project', async () => {
  const { token, projects } = await owner(2);
  const [one, two = 0] = projects;
  const key = freshKey('everywhere');
  const json = { title: 'Everywhere', key };
  assert.equal((await gantry.api('POST /deploy_keys', { as: token, json })).status, 403);
  const { status, body } = await gantry.api('POST /deploy_keys', { json });
  assert.deepEqual(
    [status, body.title, body.projects_with_write_access, body.projects_with_readonly_access],
    [201, 'Everywhere', [], []],
  );
  assert.equal((await gantry.api('POST /deploy_keys', { json })).status, 400);
  const isListed = async (line: string, as?: string): Promise<boolean> =>
    (await gantry.api(`GET ${line}`, as === undefined ? {} : { as })).body.some(
      ({ id }: { id: number }) => id === body.id,
    );
  const own = await add(two, token, { title: 'Own', key: freshKey('own') });
  assert.equal(await isListed('/deploy_keys?public=true&per_page=100'), true);
  const enable = `POST /projects/${one}/deploy_keys/${body.id}/enable`;
  const enabled = await gantry.api(enable, { as: token });
  assert.deepEqual([enabled.status, enabled.body.id, enabled.body.can_push], [201, body.id, false]);
  assert.equal((await add(two, token, { key, can_push: true })).body.id, body.id);
  const [open, ...others] = (await gantry.api(`GET /projects/${two}/deploy_keys?public=true`, { as: token }))
    .body;
  assert.deepEqual([open.id, open.can_push, others], [body.id, true, []]);
  assert.notEqual(own.body.id, body.id);
  const path = `/projects/${one}/deploy_keys/${body.id}`;
  assert.equal((await gantry.api(`PUT ${path}`, { as: token, json: { title: 'Mine' } })).status, 403);
  for (const id of [one, two]) {
    const gone = await gantry.api(`DELETE /projects/${id}/deploy_keys/${body.id}`, { as: token });
    assert.equal(gone.status, 204);
  }
  assert.equal(await isListed('/deploy_keys?public=true&per_page=100'), true);
  await gantry.api(enable, { as: token });
  assert.equal((await gantry.api(`DELETE /projects/${one}`, { as: token })).status, 202);
  await gantry.service.worker.drain();
  assert.equal(await isListed('/deploy_keys?public=true&per_page=100'), true);
  await gantry.api(`POST /projects/${two}/deploy_keys/${body.id}/enable`, { as: token });
  assert.equal((await gantry.api(`DELETE /deploy_keys/${body.id}`, { as: token })).status, 403);
  assert.equal((await gantry.api(`DELETE /deploy_keys/${body.id}`)).status, 204);
  assert.equal(await isListed(`/projects/${two}/deploy_keys`, token), false);
  const missing = await gantry.api(`DELETE /deploy_keys/${body.id}`);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Deploy Key Not Found' }]);
});
