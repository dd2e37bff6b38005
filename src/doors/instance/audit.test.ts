import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

type Event = {
  kind: string;
  actor_id: number;
  sudo_by_id: number | null;
  target_id: number;
  details: Record<string, unknown>;
  ip_address: string;
  user_agent: string;
};

/** Lists audit events of this kind, newest first. */
const told = async (kind: string): Promise<Event[]> =>
  (await gantry.api(`GET /audit_events?kind=${kind}`)).body;

const must = async (line: string, json?: object, headers: Record<string, string> = {}) => {
  const { status, body } = await gantry.api(line, { ...(json && { json }), headers });
  assert.ok(status < 300, `${line}: ${status}`);
  return body;
};

test('roles: records the new and former role, the user and the place', async () => {
  const project = await seedProject(gantry);
  const { id } = await seedUser(gantry);
  const path = `/projects/${project.id}/members`;
  await must(`POST ${path}`, { user_id: id, access_level: 30 }, { 'user-agent': 'a browser' });
  await must(`PUT ${path}/${id}`, { access_level: 40 });
  await must(`DELETE ${path}/${id}`);
  const [[added], [updated], [removed]] = [
    await told('member.added'),
    await told('member.updated'),
    await told('member.removed'),
  ];
  assert.deepEqual([added?.actor_id, added?.details['user_id'], added?.details['access_level']], [1, id, 30]);
  assert.deepEqual([added?.ip_address, added?.user_agent], ['127.0.0.1', 'a browser']);
  assert.deepEqual([updated?.details['user_id'], updated?.details['access_level']], [id, [30, 40]]);
  assert.equal(removed?.details['user_id'], id);
});

test('visibility: records changes of projects and groups, and no other changes', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  await must(`PUT /projects/${project.id}`, { description: 'x' });
  assert.deepEqual(await told('project.updated'), []);
  await must(`PUT /projects/${project.id}`, { visibility: 'public' });
  const [ofProject] = await told('project.updated');
  assert.deepEqual(
    [ofProject?.target_id, ofProject?.details['visibility']],
    [project.id, ['private', 'public']],
  );
  const group = await seedGroup(gantry, { visibility: 'private' });
  await must(`PUT /groups/${group.id}`, { visibility: 'internal' });
  const [ofGroup] = await told('group.updated');
  assert.deepEqual([ofGroup?.target_id, ofGroup?.details['visibility']], [group.id, ['private', 'internal']]);
});

test('deletions: records those of an issue, a project, a group, a user', async () => {
  const project = await seedProject(gantry);
  const { id } = await must(`POST /projects/${project.id}/issues`, { title: 'x' });
  await must(`DELETE /projects/${project.id}/issues/1`);
  assert.equal((await told('issue.deleted'))[0]?.target_id, id);
  await must(`DELETE /projects/${project.id}`);
  assert.equal((await told('project.removed'))[0]?.target_id, project.id);
  const group = await seedGroup(gantry);
  await must(`DELETE /groups/${group.id}`);
  assert.equal((await told('group.removed'))[0]?.target_id, group.id);
  const user = await seedUser(gantry);
  await must(`DELETE /users/${user.id}`);
  assert.equal((await told('user.deleted'))[0]?.target_id, user.id);
});

test('accounts: records creation, blocking and admin rights', async () => {
  const username = unique('audited');
  const password = 'correct horse battery';
  const { id } = await must('POST /users', {
    username,
    name: 'A',
    email: `${username}@example.com`,
    password,
  });
  assert.equal((await told('user.created'))[0]?.target_id, id);
  await must(`PUT /users/${id}`, { admin: true });
  assert.deepEqual((await told('user.updated'))[0]?.details['admin'], [0, 1]);
  await must(`POST /users/${id}/block`);
  assert.equal((await told('user.blocked'))[0]?.target_id, id);
});

test('sudo: records both users and the operation, once a call', async () => {
  const { id, username } = await seedUser(gantry);
  await must('GET /user', undefined, { sudo: username });
  const [used, ...others] = await told('sudo.used');
  assert.deepEqual([used?.actor_id, used?.sudo_by_id, others], [id, 1, []]);
  assert.deepEqual(used?.details, { method: 'GET', route: '/api/v4/user' });
  await must('POST /projects', { name: 'made' }, { sudo: username });
  const [made] = await told('project.created');
  assert.deepEqual([made?.actor_id, made?.sudo_by_id], [id, 1]);
  assert.equal((await told('sudo.used')).length, 2);
});

test('a refused operation is not recorded as done', async () => {
  const { token } = await seedUser(gantry);
  const count = async (): Promise<string | null> =>
    (await gantry.api('GET /audit_events')).headers.get('x-total');
  const before = await count();
  await gantry.api('DELETE /users/1', { as: token });
  await gantry.api('GET /user', { as: token, headers: { sudo: 'root' } });
  await gantry.api('GET /user', { headers: { sudo: 'nobody-at-all' } });
  assert.equal(await count(), before);
});
