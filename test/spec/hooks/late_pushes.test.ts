/** Pushes that are delivered late show what was pushed, although refs have moved since. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { describePushes } from '../../../src/code/repository/refs/describe_pushes.ts';
import { zeroOid } from '../../../src/platform/git/protocol_types.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedProject } from '../../support/seed.ts';
import { merge, openRequest } from '../../support/seed_merge_requests.ts';
import { type HookReceiver, type Received, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: { id: number };
let path: string;
let hook: string;

const send = async (line: string, json: object = {}) => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const drain = async (): Promise<void> => await gantry.service.worker.drain();

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  await send('PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  project = await seedProject(gantry);
  path = `/projects/${project.id}`;
  await seedCommit(gantry, project.id, { 'a.txt': 'a' });
  await drain();
  const json = { url: receiver.url, push_events: true, tag_push_events: true };
  hook = `${path}/hooks/${(await send(`POST ${path}/hooks`, json)).id}`;
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

/** Makes the hook pause, by failing attempts. */
const pauseHook = async (): Promise<void> => {
  receiver.answer((_request, response) => void response.writeHead(500).end());
  await seedCommit(gantry, project.id, { 'n.txt': `${Math.random()}` });
  let now = Date.now();
  for (const pause of [0, 1, 5, 15]) {
    now += pause * 1_000;
    gantry.setTime(now);
    await drain();
  }
  assert.equal((await send(`GET ${hook}`)).alert_status, 'temporarily_disabled');
};

/** Returns the first delivery for the ref, which is built after `act` and `meanwhile`, when the pause of the hook ends. */
const deliverLate = async (
  ref: string,
  act: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<Received> => {
  await pauseHook();
  await act();
  await drain();
  await meanwhile();
  await drain();
  receiver.clear();
  gantry.setTime(Date.now() + 3_600_000);
  await drain();
  gantry.setTime(null);
  const [first] = receiver.received.filter(({ body }) => body.ref === ref);
  assert.ok(first);
  return first;
};

test('a new branch that was merged before the delivery has its commits', async () => {
  const { body } = await deliverLate(
    'refs/heads/topic',
    async () => await seedCommit(gantry, project.id, { 'b.txt': 'b' }, { branch: 'topic', from: 'main' }),
    async () => {
      const reply = await merge(gantry, await openRequest(gantry, project, 'topic'));
      assert.equal(reply.status, 200, reply.text);
    },
  );
  assert.deepEqual(
    [body.total_commits_count, body.commits.map(({ added }: { added: string[] }) => added)],
    [1, [['b.txt']]],
  );
});

test('an annotated tag that was deleted before the delivery has its message and commit', async () => {
  let commit = '';
  const { body } = await deliverLate(
    'refs/tags/v1',
    async () => {
      const json = { tag_name: 'v1', ref: 'main', message: 'First' };
      commit = (await send(`POST ${path}/repository/tags`, json)).commit.id;
    },
    async () => assert.equal((await gantry.api(`DELETE ${path}/repository/tags/v1`)).status, 204),
  );
  assert.deepEqual([body.message, body.checkout_sha], ['First\n', commit]);
});

test('the activity of a new branch that was merged before it was described has its commits', async () => {
  const { platform } = gantry.service;
  const { db } = platform.store;
  const [{ commit: base }] = await send(`GET ${path}/repository/branches?search=main`);
  const after = await seedCommit(gantry, project.id, { 'c.txt': 'c' }, { branch: 'late', from: 'main' });
  await drain();
  assert.equal((await merge(gantry, await openRequest(gantry, project, 'late'))).status, 200);
  await drain();
  const [event] = await send(`GET ${path}/events?action=pushed&per_page=100`).then((events) =>
    events.filter(({ push_data }: { push_data: { ref: string } }) => push_data.ref === 'late'),
  );
  assert.equal(event.push_data.commit_count, 1);
  // As if the work of the push had waited until now.
  const row = await db
    .selectFrom('activities')
    .selectAll()
    .where('id', '=', event.id)
    .executeTakeFirstOrThrow();
  const data = { ref: 'refs/heads/late', before: zeroOid, after };
  await platform.store.write(
    async (tx) =>
      await tx.db
        .updateTable('activities')
        .set({ data: JSON.stringify(data) })
        .where('id', '=', event.id)
        .execute(),
  );
  await describePushes(platform, {
    project_id: project.id,
    user_id: 1,
    kind: 'push',
    updates: [{ ref: data.ref, old: zeroOid, new: after }],
    skip_ci: false,
    sealed_options: null,
    branch_base: base.id,
    moved_at: row.created_at,
  });
  const again = await send(`GET ${path}/events?action=pushed&per_page=100`);
  const described = again.find(({ id }: { id: number }) => id === event.id);
  assert.equal(described.push_data.commit_count, 1);
});
