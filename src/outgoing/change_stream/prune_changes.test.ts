/** How long the change log is kept, and what those are answered who come too late. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sql } from 'kysely';
import { type SeededProject, seedIssue, seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { pruneChanges } from './prune_changes.ts';

let gantry: TestService;
let project: SeededProject;
before(async () => {
  gantry = await startTestService({ GANTRY_CHANGES_RETENTION: '10' });
  project = await seedProject(gantry);
});
after(async () => await gantry.close());

const day = 86_400_000;

/** Records changes of a project, some days ago. @returns the id of the latest */
const record = async (count: number, daysAgo: number): Promise<number> => {
  const { id } = await seedIssue(gantry, { project: project.id });
  return await gantry.service.platform.store.write(async (tx) => {
    const target = { project_id: project.id, target_type: 'Issue', target_id: id };
    for (let at = 0; at < count; at += 1) await recordEvent(tx, null, { kind: 'issue.updated', ...target });
    const { rows } = await sql<{ last: number }>`select max(id) as last from events`.execute(tx.db);
    const last = rows[0]?.last ?? 0;
    await sql`update events set created_at = ${tx.now - daysAgo * day}
      where id > ${last - count}`.execute(tx.db);
    return last;
  });
};

const backdateAll = async (days: number): Promise<void> =>
  await gantry.service.platform.store.write(async ({ db, now }) => {
    await sql`update events set created_at = ${now - days * day}`.execute(db);
  });

const prune = async (): Promise<void> =>
  await pruneChanges(gantry.service.platform, new AbortController().signal);

const countRows = async (): Promise<number> => {
  const { rows } = await sql<{ total: number }>`select count(*) as total from events`.execute(
    gantry.service.platform.store.db,
  );
  return rows[0]?.total ?? 0;
};

it('deletes what is older than the setting says, in batches, and tells late readers where to go on', async () => {
  await backdateAll(30);
  const first = await record(1, 20);
  const old = await record(700, 11);
  const recent = await record(3, 9);
  await prune();
  assert.equal(await countRows(), 3);

  const late = await gantry.api(`GET /changes?after=${first}`);
  assert.deepEqual([late.status, late.body.oldest_after], [410, old], late.text);
  assert.match(late.body.message, /^410 Gone - /);
  const stream = await gantry.api(`GET /changes?after=${first}`, {
    headers: { accept: 'text/event-stream' },
  });
  assert.equal(stream.status, 410);
  const resumed = await gantry.api('GET /changes', {
    headers: { accept: 'text/event-stream', 'last-event-id': String(first) },
  });
  assert.equal(resumed.status, 410);

  for (const after of [0, old]) {
    const { status, body } = await gantry.api(`GET /changes?after=${after}`);
    assert.deepEqual([status, body.changes.length, body.next_after], [200, 3, recent]);
  }
});

it('keeps the latest change, so that the end of the log never moves back', async () => {
  const last = await record(2, 12);
  await backdateAll(12);
  await prune();
  assert.equal(await countRows(), 1);
  const { body } = await gantry.api('GET /changes');
  assert.equal(body.next_after, last);
  const next = await record(1, 0);
  const { body: later } = await gantry.api(`GET /changes?after=${last}`);
  assert.deepEqual([later.changes.length, later.next_after], [1, next]);
});
