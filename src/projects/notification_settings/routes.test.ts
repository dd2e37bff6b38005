import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const put = async (place: string, as: string | null, json: object) =>
  await gantry.api(`PUT ${place}/notification_settings`, { as, json });

const get = async (place: string, as: string | null) =>
  await gantry.api(`GET ${place}/notification_settings`, { as });

const quiet = {
  new_note: false,
  new_release: false,
  new_issue: false,
  reopen_issue: false,
  close_issue: false,
  reassign_issue: false,
  issue_due: false,
  new_merge_request: false,
  push_to_merge_request: false,
  reopen_merge_request: false,
  close_merge_request: false,
  reassign_merge_request: false,
  change_reviewer_merge_request: false,
  merge_merge_request: false,
  failed_pipeline: true,
  fixed_pipeline: true,
  success_pipeline: false,
  moved_project: true,
  merge_when_pipeline_succeeds: false,
};

test('reads and changes the notification level of the caller', async () => {
  const user = await seedUser(gantry);
  const notification_email = `${user.username}@example.com`;
  assert.deepEqual((await get('', user.token)).body, { level: 'participating', notification_email });
  const changed = await put('', user.token, { level: 'watch' });
  assert.deepEqual([changed.status, changed.body], [200, { level: 'watch', notification_email }]);
  assert.deepEqual((await put('', user.token, {})).body.level, 'watch');
  const { body } = await put('', user.token, { level: 'custom', new_note: 'true', failed_pipeline: 0 });
  assert.deepEqual(body.events, { ...quiet, new_note: true, failed_pipeline: false });
  const same = await put('', user.token, { notification_email: notification_email.toUpperCase() });
  assert.equal(same.status, 200);
});

test('refuses unknown levels, another address, and anonymous callers', async () => {
  const { token } = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  const refuses = async (place: string, json: object, message: object) => {
    const reply = await put(place, token, json);
    assert.deepEqual([reply.status, reply.body], [400, { message }]);
  };
  const wrong = { level: ['does not have a valid value'] };
  await refuses('', { level: 'everything' }, wrong);
  await refuses('', { level: 'global' }, wrong);
  await refuses(`/projects/${id}`, { level: 3 }, wrong);
  await refuses(`/projects/${id}`, { level: 'custom', new_note: 'maybe' }, { new_note: ['is invalid'] });
  const address = { notification_email: ['is not an email you own'] };
  await refuses('', { notification_email: 'other@example.com', level: 'watch' }, address);
  assert.equal((await get('', token)).body.level, 'participating');
  for (const place of ['', `/projects/${id}`]) assert.equal((await get(place, null)).status, 401);
});

test('keeps a level for each project and group, of each user', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'internal' });
  const places = [`/projects/${project.id}`, `/groups/${group.id}`];
  for (const place of places) assert.deepEqual((await get(place, one.token)).body, { level: 'global' });
  assert.deepEqual((await put(places[0]!, one.token, { level: 'watch' })).body, { level: 'watch' });
  assert.deepEqual((await put(places[1]!, one.token, { level: 'mention' })).body, { level: 'mention' });
  const byPath = await get(`/projects/${encodeURIComponent(project.full_path)}`, one.token);
  assert.deepEqual(byPath.body, { level: 'watch' });
  assert.deepEqual((await get(places[1]!, one.token)).body, { level: 'mention' });
  assert.equal((await get('', one.token)).body.level, 'participating');
  for (const place of places) assert.deepEqual((await get(place, other.token)).body, { level: 'global' });
});

test('keeps events while another level is set, and names events that do not exist', async () => {
  const { token } = await seedUser(gantry);
  const place = `/projects/${(await seedProject(gantry)).id}`;
  const custom = await put(place, token, { level: 'custom', new_issue: true });
  assert.deepEqual(custom.body, { level: 'custom', events: { ...quiet, new_issue: true } });
  const muted = await put(place, token, {
    level: 'disabled',
    close_issue: true,
    new_epic: true,
    issue_due: false,
  });
  assert.deepEqual(muted.body, { level: 'disabled' });
  assert.equal(muted.headers.get('gantry-ignored-parameters'), 'new_epic');
  const { body } = await put(place, token, { level: 'custom' });
  assert.deepEqual(body.events, { ...quiet, new_issue: true, close_issue: true });
});

test('loses nothing of concurrent changes', async () => {
  const { token } = await seedUser(gantry);
  const place = `/projects/${(await seedProject(gantry)).id}`;
  const events = ['new_note', 'new_issue', 'close_issue', 'issue_due'];
  const replies = await Promise.all(
    events.map(async (event) => await put(place, token, { level: 'custom', [event]: true })),
  );
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const { body } = await get(place, token);
  assert.deepEqual(body.events, { ...quiet, ...Object.fromEntries(events.map((event) => [event, true])) });
});

test('hides hidden projects and groups', async () => {
  const { token } = await seedUser(gantry);
  const group = await seedGroup(gantry, { visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  for (const [place, noun] of [
    [`/projects/${project.id}`, 'Project'],
    [`/groups/${group.id}`, 'Group'],
  ] as const) {
    const replies = [await get(place, token), await put(place, token, { level: 'watch' })];
    for (const { status, body } of replies) {
      assert.deepEqual([status, body], [404, { message: `404 ${noun} Not Found` }]);
    }
  }
});

test('shows the levels in the permissions of a project', async () => {
  const user = await seedUser(gantry);
  const group = await seedGroup(gantry);
  const { id } = await seedProject(gantry, { namespace: group.id });
  await seedMember(gantry, { user: user.id, group: group.id, access_level: 30 });
  await seedMember(gantry, { user: user.id, project: id, access_level: 40 });
  await put(`/projects/${id}`, user.token, { level: 'watch' });
  await put(`/groups/${group.id}`, user.token, { level: 'disabled' });
  const shown = {
    project_access: { access_level: 40, notification_level: 2 },
    group_access: { access_level: 30, notification_level: 0 },
  };
  assert.deepEqual((await gantry.api(`GET /projects/${id}`, { as: user.token })).body.permissions, shown);
  const listed = await gantry.api('GET /projects?membership=true', { as: user.token });
  assert.deepEqual(listed.body[0].permissions, shown);
});
