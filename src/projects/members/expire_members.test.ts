/** Memberships that reach their last day: they are removed, and hooks, activities and the change log tell it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { seedVisitor } from '../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { startExpiringMembers } from './expire_members.ts';

let gantry: TestService;
let receiver: HookReceiver;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const send = async (line: string, json: object) => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

/** The day's work, as a start of the service does it. */
const expire = async (): Promise<void> => {
  await startExpiringMembers(gantry.service.platform)();
  await gantry.service.worker.drain();
};

test('the end of a membership is recorded once, and sent as a removal', async () => {
  const group = await seedGroup(gantry);
  const project = await seedProject(gantry, { namespace: group.id });
  const [user, staying] = [await seedUser(gantry), await seedUser(gantry)];
  const places = [`/projects/${project.id}`, `/groups/${group.id}`];
  for (const place of places) {
    await send(`POST ${place}/hooks`, {
      url: `${receiver.url}${place}`,
      member_events: true,
      push_events: false,
    });
    await send(`POST ${place}/members`, { user_id: user.id, access_level: 30, expires_at: day(1) });
  }
  await seedMember(gantry, { user: staying.id, project: project.id, access_level: 30 });
  const token = { name: 'robot', scopes: ['api'], expires_at: day(1) };
  const bot = await send(`POST /projects/${project.id}/access_tokens`, token);
  const from = (await gantry.api('GET /changes')).body.next_after;
  await expire();
  await gantry.service.worker.drain();
  receiver.clear();

  gantry.setTime(Date.now() + 86_400_000);
  await Promise.all([expire(), expire()]);
  gantry.setTime(null);
  const sent = receiver.received.map(({ path, body }) => [
    path,
    body.event_name,
    body.user_id,
    body.expires_at,
  ]);
  const expires_at = `${day(1)}T00:00:00Z`;
  assert.deepEqual(
    sent.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    [
      [places[1], 'user_remove_from_group', user.id, expires_at],
      [places[1], 'user_remove_from_team', user.id, expires_at],
      [places[0], 'user_remove_from_team', user.id, expires_at],
    ],
  );
  const { changes } = (await gantry.api(`GET /changes?after=${from}`)).body;
  assert.deepEqual(
    changes.map(({ kind, action, target_id }: Record<string, unknown>) => [kind, action, target_id]),
    [['member', 'expired', user.id]],
  );
  const events = (await gantry.api(`GET /projects/${project.id}/events?action=expired`)).body;
  assert.deepEqual(
    events.map(({ action_name, author_id }: Record<string, unknown>) => [action_name, author_id]),
    [['removed due to membership expiration from', user.id]],
  );
  const page = await (await seedVisitor(gantry)).visitor.get(`/${project.full_path}/-/activity`);
  assert.match(page.text, /reached the end of their membership in the project/);
  const members = await gantry.service.platform.store.db
    .selectFrom('members')
    .select('user_id')
    .where('source_type', '=', 'Project')
    .where('source_id', '=', project.id)
    .execute();
  const left = members.map(({ user_id }) => user_id);
  assert.deepEqual(
    [left.includes(user.id), left.includes(staying.id), left.includes(bot.user_id)],
    [false, true, true],
  );
});
