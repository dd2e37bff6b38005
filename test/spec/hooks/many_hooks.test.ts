/** A project with as many hooks as it may have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { insertRows } from '../../../src/platform/db/insert.ts';
import { times } from '../../support/run/sample.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { seedProject } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

const most = 1_000;
const delivering = times(most, 60);

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

test(`delivers a change once to each of ${delivering} hooks of ${most}`, async () => {
  const { id } = await seedProject(gantry);
  const { store } = gantry.service.platform;
  const json = { url: `${receiver.url}/1`, push_events: false, issues_events: true };
  const first = (await gantry.api(`POST /projects/${id}/hooks`, { json })).body;
  await store.write(async (tx) => {
    const { id: _id, ...row } = await tx.db
      .selectFrom('hooks')
      .selectAll()
      .where('id', '=', first.id)
      .executeTakeFirstOrThrow();
    for (let at = 2; at <= most; at += 10) {
      const count = Math.min(10, most - at + 1);
      const rows = Array.from({ length: count }, (_one, more) => ({
        ...row,
        url: `${receiver.url}/${at + more}`,
        issues_events: at + more <= delivering ? (1 as const) : (0 as const),
      }));
      await insertRows(tx.db, 'hooks', rows);
    }
  });
  const over = await gantry.api(`POST /projects/${id}/hooks`, { json });
  assert.equal(over.status, 400, over.text);
  await gantry.api(`PUT /projects/${id}/hooks/${first.id}`, { json: {} }); // the cache of hooks is out of date
  assert.equal((await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'One' } })).status, 201);
  await gantry.service.worker.drain();
  const paths = new Set(receiver.received.map(({ path }) => path));
  assert.deepEqual([receiver.received.length, paths.size], [delivering, delivering]);
  const pending = await store.db.selectFrom('hook_deliveries').select('id').execute();
  assert.deepEqual(pending, []);
});
