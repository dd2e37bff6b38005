/** Hooks whose receivers fail: how long they pause, what a pause costs, and how the pending deliveries go on. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { deliverHooksWork, makeDeliveryWork } from '../changes/observe.ts';
import { holdPauses } from '../hooks/pause_lock.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: string;
let hook: string;
let hookId: number;
let now: number;

before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

const setTime = (time: number): void => gantry.setTime((now = time));

beforeEach(async () => {
  receiver.clear();
  setTime(Date.now() + 1_000);
  project = `/projects/${(await seedProject(gantry)).id}`;
  const json = { url: receiver.url, push_events: false, issues_events: true };
  const made = await gantry.api(`POST ${project}/hooks`, { json });
  assert.equal(made.status, 201, made.text);
  [hookId, hook] = [made.body.id, `${project}/hooks/${made.body.id}`];
});

/** Ends what waits, with which the next test would begin. */
afterEach(async () => {
  await gantry.api(`DELETE ${hook}`);
  await gantry.service.platform.store.write(
    async ({ db }) => await db.deleteFrom('work').where('name', 'like', 'hooks.%').execute(),
  );
});

const drain = async (): Promise<void> => await gantry.service.worker.drain();

const addIssues = async (...titles: string[]): Promise<void> => {
  for (const title of titles) {
    const made = await gantry.api(`POST ${project}/issues`, { json: { title } });
    assert.equal(made.status, 201, made.text);
  }
};

const numbered = (count: number, word: string): string[] =>
  Array.from({ length: count }, (_item, at) => `${word} ${at + 1}`);

/** Fails requests about these titles; default: all. */
const fail = (titles?: readonly string[]): void =>
  receiver.answer(({ body }, response) => {
    const fails = titles === undefined || titles.includes(body.object_attributes.title);
    response.writeHead(fails ? 500 : 204).end();
  });

const receivedTitles = (): string[] =>
  receiver.received.map(({ body }): string => body.object_attributes.title).toSorted();

/** Milliseconds until the pause ends; null: it does not pause. */
const pauseLeft = async (): Promise<number | null> => {
  const { disabled_until } = (await gantry.api(`GET ${hook}`)).body;
  return disabled_until === null ? null : Date.parse(disabled_until) - now;
};

const untilPauseEnds = async (): Promise<void> => {
  setTime(now + ((await pauseLeft()) ?? 0));
  receiver.received.length = 0;
  await drain();
};

/** Adds issues whose deliveries fail until the hook pauses, and their second attempts are due. */
const untilPaused = async (...titles: string[]): Promise<void> => {
  fail();
  await addIssues(...titles);
  await drain();
  assert.equal(await pauseLeft(), 60_000);
  setTime(now + 1_000);
  await drain();
};

/** Work that waits to send something. */
const waitingWork = async (): Promise<string[]> => {
  const rows = await gantry.service.platform.store.db
    .selectFrom('work')
    .select('name')
    .where('name', 'like', 'hooks.%')
    .execute();
  return rows.map(({ name }) => name);
};

test('failures of attempts that were under way together pause a hook for a minute, not for a day', async () => {
  const held: ServerResponse[] = [];
  receiver.answer((_request, response) => {
    held.push(response);
    if (held.length === 12) for (const each of held) each.writeHead(500).end();
  });
  await addIssues(...numbered(12, 'Issue'));
  await drain();
  assert.equal(held.length, 12);
  assert.equal(await pauseLeft(), 60_000);
  setTime(now + 1_000);
  await drain();
  assert.deepEqual(await waitingWork(), ['hooks.probe']);
});

test('neither waiting deliveries nor those of later changes are work during a pause', async () => {
  const { payload, options } = makeDeliveryWork(hookId, 'waiting');
  await gantry.service.platform.store.write(
    async (tx) => await enqueue(tx, deliverHooksWork, payload, { ...options, run_at: now + 3_600_000 }),
  );
  await untilPaused(...numbered(6, 'First'));
  assert.deepEqual(await waitingWork(), ['hooks.probe']);
  await addIssues(...numbered(3, 'Later'));
  assert.deepEqual(await waitingWork(), ['hooks.probe']);
  receiver.answer((_request, response) => response.writeHead(204).end());
  await gantry.api(`PUT ${hook}`, { json: { name: 'repaired' } });
  receiver.received.length = 0;
  await drain();
  assert.deepEqual(receivedTitles(), [...numbered(6, 'First'), ...numbered(3, 'Later')]);
});

test('an edit also sends what a transaction stores that saw the pause', async () => {
  await untilPaused(...numbered(4, 'Issue'));
  receiver.answer((_request, response) => response.writeHead(204).end());
  receiver.received.length = 0;
  const [stored, edited] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = gantry.service.platform.store.write(async (tx) => {
    const { db } = tx;
    await holdPauses(tx, [hookId]);
    const { hook_event_id } = await db
      .selectFrom('hook_deliveries')
      .select('hook_event_id')
      .where('hook_id', '=', hookId)
      .executeTakeFirstOrThrow();
    const row = { hook_id: hookId, hook_event_id, target: 'another', next_attempt_at: now };
    await db.insertInto('hook_deliveries').values(row).execute();
    stored.resolve();
    await edited.promise;
  });
  await stored.promise;
  const edit = gantry.api(`PUT ${hook}`, { json: { name: 'repaired' } });
  await Promise.race([edit.then(drain), wait(1_000)]);
  edited.resolve();
  await Promise.all([change, edit]);
  await drain();
  assert.equal(receiver.received.length, 5);
});

test('each end of a pause tries one delivery, and the first success sends the others', async () => {
  const first = numbered(6, 'First');
  await untilPaused(...first);
  const later = numbered(6, 'Later');
  await addIssues(...later);
  receiver.received.length = 0;
  await drain();
  assert.deepEqual(receivedTitles(), []);
  await untilPauseEnds();
  assert.equal(receiver.received.length, 1);
  const left = (await pauseLeft()) ?? 0;
  assert.ok(left >= 144_000 && left <= 180_000, `${left} ms`);
  receiver.answer((_request, response) => response.writeHead(204).end());
  await untilPauseEnds();
  assert.equal(await pauseLeft(), null);
  assert.deepEqual(receivedTitles(), [...first, ...later].toSorted());
  assert.deepEqual(await waitingWork(), []);
});

test('a pause ends although the clock was set back since it began', async () => {
  const titles = numbered(3, 'Issue');
  await untilPaused(...titles, 'Last');
  // The next pause is longer than the waits of other work.
  await untilPauseEnds();
  assert.ok(((await pauseLeft()) ?? 0) > 120_000);
  receiver.answer((_request, response) => response.writeHead(204).end());
  receiver.received.length = 0;
  setTime(now - 3_600_000);
  assert.equal((await gantry.api(`GET ${hook}`)).body.alert_status, 'executable');
  await drain();
  assert.deepEqual(receivedTitles(), [...titles, 'Last']);
  assert.equal(await pauseLeft(), null);
});

test('a delivery that always fails does not hold back those of other targets', async () => {
  await untilPaused('Bad', ...numbered(5, 'Good'));
  fail(['Bad']);
  const titles = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    await untilPauseEnds();
    for (const title of receivedTitles()) titles.add(title);
  }
  assert.deepEqual([...titles].toSorted(), ['Bad', ...numbered(5, 'Good')]);
});

test('many pending deliveries follow in groups', async () => {
  await untilPaused(...numbered(4, 'Issue'));
  const { store } = gantry.service.platform;
  await store.write(async ({ db }) => {
    const { hook_event_id } = await db
      .selectFrom('hook_deliveries')
      .select('hook_event_id')
      .where('hook_id', '=', hookId)
      .executeTakeFirstOrThrow();
    for (let at = 0; at < 450; at += 1)
      await db
        .insertInto('hook_deliveries')
        .values({ hook_id: hookId, hook_event_id, target: `target ${at}`, next_attempt_at: now })
        .execute();
  });
  receiver.answer((_request, response) => response.writeHead(204).end());
  await untilPauseEnds();
  assert.ok(receiver.received.length <= 201, String(receiver.received.length));
  for (let group = 0; group < 2; group += 1) {
    setTime(now + 200);
    await drain();
  }
  assert.equal(receiver.received.length, 454);
  assert.deepEqual(await waitingWork(), []);
});

test('another delivery is tried after some minutes where an attempt cannot be made', async () => {
  await untilPaused(...numbered(5, 'Issue'));
  const { store } = gantry.service.platform;
  await store.write(async ({ db }) => {
    const broken = { trigger_name: 'issue', uuid: 'broken', snapshot: 'no JSON', created_at: now };
    const { id } = await db
      .insertInto('hook_events')
      .values(broken)
      .returning('id')
      .executeTakeFirstOrThrow();
    const others = db
      .selectFrom('hook_deliveries')
      .select('id')
      .where('hook_id', '=', hookId)
      .orderBy('id')
      .offset(1)
      .limit(9);
    await db.updateTable('hook_deliveries').set({ hook_event_id: id }).where('id', 'in', others).execute();
  });
  receiver.answer((_request, response) => response.writeHead(204).end());
  await untilPauseEnds();
  for (let tries = 0; tries < 5 && receiver.received.length === 0; tries += 1) {
    setTime(now + 600_000);
    await drain();
  }
  assert.deepEqual(receivedTitles(), ['Issue 1']);
  assert.equal(await pauseLeft(), null);
});
