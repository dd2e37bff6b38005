/** Deliveries that are answered at the same time share their statements. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { observeOperations } from '../../platform/db/statement_meter.ts';

const hooks = 5;

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

/** Answers when every hook has sent its request. The last one fails. */
const answerTogether = (): void => {
  const responses: ServerResponse[] = [];
  receiver.answer(({ path }, response) => {
    responses.push(response);
    if (path === `/${hooks}`) response.statusCode = 500;
    if (responses.length === hooks) responses.forEach((one) => one.end());
  });
};

test('of one change for five hooks: one payload, few inserts, and a failure stays pending', async () => {
  const { id } = await seedProject(gantry);
  const ids: number[] = [];
  for (let at = 1; at <= hooks; at += 1) {
    const json = { url: `${receiver.url}/${at}`, push_events: false, issues_events: true };
    ids.push((await gantry.api(`POST /projects/${id}/hooks`, { json })).body.id);
  }
  gantry.setTime(Date.now() + 1_000); // no second attempt becomes due
  answerTogether();
  const statements: string[] = [];
  const stop = observeOperations(({ kind, name }) => void (kind === 'sql' && statements.push(name)));
  const made = await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'Wide' } });
  assert.equal(made.status, 201, made.text);
  await gantry.service.worker.drain();
  stop();
  const count = (pattern: RegExp): number => statements.filter((text) => pattern.test(text)).length;
  assert.equal(receiver.received.length, hooks);
  assert.ok(count(/^insert into "hook_logs"/) <= 3, 'the failure, and successes in at most two batches');
  assert.equal(count(/^select .*"snapshot"/), 0, 'the process that stored a change need not read it again');
  const statuses = await Promise.all(
    ids.map(async (hook) => (await gantry.api(`GET /projects/${id}/hooks/${hook}/events`)).body),
  );
  assert.deepEqual(
    statuses.map((logs) => logs.map((log: { response_status: number }) => log.response_status)),
    ids.map((_id, at) => [at === hooks - 1 ? 500 : 200]),
  );
  const { db } = gantry.service.platform.store;
  const pending = await db.selectFrom('hook_deliveries').select(['hook_id', 'attempts']).execute();
  assert.deepEqual(pending, [{ hook_id: ids.at(-1), attempts: 1 }]);
});
