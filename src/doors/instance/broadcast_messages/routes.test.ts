import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const path = '/broadcast_messages';

beforeEach(async () => {
  gantry.setTime(null);
  for (const { id } of (await gantry.api(`GET ${path}`)).body) await gantry.api(`DELETE ${path}/${id}`);
});

const add = async (json: object) => {
  const reply = await gantry.api(`POST ${path}`, { json });
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

const textsFor = async (as: string | null): Promise<string[]> =>
  (await gantry.api(`GET ${path}`, { as })).body.map(({ message }: { message: string }) => message);

test('administrators create, change and delete messages', async () => {
  gantry.setTime(Date.UTC(2030, 0, 1));
  const made = await add({ message: 'Down at noon', color: '#E75E40', font: '#fff', theme: 'red' });
  assert.deepEqual(made, {
    id: made.id,
    message: 'Down at noon',
    starts_at: '2030-01-01T00:00:00.000Z',
    ends_at: '2030-01-01T01:00:00.000Z',
    color: '#E75E40',
    font: '#fff',
    theme: 'red',
    active: true,
    target_access_levels: [],
    target_path: null,
    broadcast_type: 'banner',
    dismissable: false,
  });
  const json = { message: 'At one', target_access_levels: [10, 30], target_path: '/a/*', dismissable: true };
  const changed = await gantry.api(`PUT ${path}/${made.id}`, { json });
  assert.deepEqual(changed.body, { ...made, ...json });
  assert.equal((await gantry.api(`PUT ${path}/${made.id}`, { json: {} })).status, 400);
  for (const wrong of [
    { message: ' ' },
    { color: 'red' },
    { font: '#12' },
    { theme: 'pink' },
    { target_access_levels: [11] },
    { broadcast_type: 'popup' },
    { starts_at: 'soon' },
  ]) {
    const refused = await gantry.api(`POST ${path}`, { json: { message: 'x', ...wrong } });
    assert.equal(refused.status, 400, JSON.stringify(wrong));
  }
  assert.equal((await gantry.api(`DELETE ${path}/${made.id}`)).status, 204);
  assert.equal((await gantry.api(`GET ${path}/${made.id}`)).status, 404);
});

test('others read only what addresses them now', async () => {
  const now = Date.UTC(2030, 0, 1);
  gantry.setTime(now);
  const user = await seedUser(gantry);
  const project = await seedProject(gantry);
  const at = (minutes: number): string => new Date(now + minutes * 60_000).toISOString();
  await add({ message: 'past', starts_at: at(-20), ends_at: at(-10) });
  const later = await add({ message: 'later', starts_at: at(10), ends_at: at(20) });
  await add({ message: 'now' });
  await add({ message: 'for developers', target_access_levels: [30] });
  assert.equal((await textsFor('root-token-of-the-tests')).length, 4);
  for (const as of [null, user.token]) {
    assert.deepEqual(await textsFor(as), ['now']);
    assert.equal((await gantry.api(`GET ${path}/${later.id}`, { as })).status, 404);
  }
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  assert.deepEqual(await textsFor(user.token), ['now', 'for developers']);
  gantry.setTime(now + 15 * 60_000);
  assert.deepEqual(await textsFor(null), ['later', 'now']);
});

test('pages show messages until they are dismissed', async () => {
  const { visitor } = await seedVisitor(gantry);
  const anonymous = openVisitor(gantry);
  const { id } = await add({ message: '**Hello** <script>x</script>', dismissable: true });
  await add({ message: 'Always there' });
  await add({ message: 'Elsewhere', target_path: '/explore*' });
  for (const one of [visitor, anonymous]) {
    const { text } = await one.get('/users/sign_in');
    const shown = one === visitor ? (await one.get('/dashboard/projects')).text : text;
    assert.ok(shown.includes('<strong>Hello</strong>'));
    assert.equal(shown.includes('<script>x'), false);
    assert.deepEqual([shown.includes('Always there'), shown.includes('Elsewhere')], [true, false]);
    const away = await one.post(`/-/broadcast_messages/${id}/dismiss`, { return_to: '/explore' });
    assert.deepEqual([away.status, away.location], [303, '/explore']);
    const after = (await one.get('/explore')).text;
    assert.deepEqual(
      [after.includes('<strong>Hello</strong>'), after.includes('Always there'), after.includes('Elsewhere')],
      [false, true, true],
    );
    const outside = await one.post(`/-/broadcast_messages/${id}/dismiss`, { return_to: '//evil.example' });
    assert.equal(outside.location, '/');
  }
});

test('administrators write messages on a page', async () => {
  const { visitor } = await seedVisitor(gantry, { admin: 1 });
  const page = '/admin/broadcast_messages';
  await visitor.get(`${page}/new`);
  const form = {
    message: 'From a page',
    theme: 'green',
    broadcast_type: 'banner',
    'target_access_levels[]': '',
  };
  const wrong = await visitor.post(page, { ...form, message: ' ' });
  assert.equal(wrong.status, 422);
  const made = await visitor.post(page, { ...form, starts_at: '', ends_at: '2100-01-01T00:00:00Z' });
  assert.deepEqual([made.status, made.location], [303, page]);
  const [message] = (await gantry.api(`GET ${path}`)).body;
  assert.deepEqual(
    [message.message, message.theme, message.ends_at],
    ['From a page', 'green', '2100-01-01T00:00:00.000Z'],
  );
  assert.ok((await visitor.get(`${page}/${message.id}/edit`)).text.includes('2100-01-01T00:00:00.000Z'));
  await visitor.post(`${page}/${message.id}`, { ...form, message: 'Edited' });
  assert.deepEqual(await textsFor(null), ['Edited']);
  await visitor.get(page);
  await visitor.post(`${page}/${message.id}/delete`);
  assert.deepEqual(await textsFor(null), []);
  const other = await seedVisitor(gantry);
  assert.equal((await other.visitor.get(page)).status, 404);
});
