/** Job logs in the data folder of a service, moved to where all services read them. */
import assert from 'node:assert/strict';
import { existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { type AppendFiles, openAppendFiles } from '../../../platform/blob/append_files.ts';
import { openAppendRows } from '../../../platform/blob/append_rows.ts';
import { getTracePath } from '../../../platform/blob/trace_path.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { type SharingParts, shareLogFiles } from './share_log_files.ts';

type Log = { project_id: number; id: number; trace_key: string | null };

let gantry: TestService;
let project: number;
/** The logs as two services see them: one whose data folder has files, and one whose folder is empty. */
let first: AppendFiles;
let second: AppendFiles;
let warned: string[];
let parts: SharingParts;

before(async () => {
  gantry = await startTestService();
  ({ id: project } = await seedProject(gantry));
  const { store, blobs, traces: files, config } = gantry.service.platform;
  const rows = (own: AppendFiles) =>
    openAppendRows({ store, blobs, files: own, onFailure: () => assert.fail('archiving failed') });
  first = rows(files);
  second = rows(await openAppendFiles(join(config.data, 'traces-2')));
  parts = {
    store,
    blobs,
    own: { folder: join(config.data, 'traces'), files },
    mayRemove: async () => await Promise.resolve(true),
    log: { info: () => undefined, warn: (_details: object, message?: string) => warned.push(message ?? '') },
  };
});
beforeEach(() => (warned = []));
after(async () => await gantry.close());

/** Adds a job with a log in the data folder. */
const addLog = async (words: string, status: JobStatus = 'success', secrets: string[] = []): Promise<Log> => {
  const { store, traces } = gantry.service.platform;
  const { jobs } = await seedPipeline(gantry, { project, file: 'a: { script: x }' });
  const id = jobs['a'] ?? 0;
  const { trace_key } = await store.db
    .selectFrom('jobs')
    .select('trace_key')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const log = { project_id: project, id, trace_key };
  await traces.append(log, 0, Buffer.from(words), secrets);
  const state = status === 'running' ? null : await traces.finish(log);
  await store.write(async ({ db }) => {
    const lengths = { trace_size: state?.size ?? null, trace_crc: state?.crc ?? null };
    await db
      .updateTable('jobs')
      .set({ status, ...lengths })
      .where('id', '=', id)
      .execute();
  });
  return log;
};

const read = async (traces: AppendFiles, log: Log): Promise<string | null> => {
  const stream = await traces.read(log);
  return stream === null ? null : await text(stream);
};
const pathOf = (log: Log): string => join(parts.own.folder, getTracePath(log));
const update = async (
  { id }: Log,
  change: { erased_at?: number; trace_size?: number | null; status?: 'failed' },
) =>
  await gantry.service.platform.store.write(
    async ({ db }) => void (await db.updateTable('jobs').set(change).where('id', '=', id).execute()),
  );

test('moves the logs of ended jobs to where every service reads them', async () => {
  const logs = [await addLog('of one'), await addLog('a secret word', 'failed', ['secret'])];
  assert.deepEqual(await Promise.all(logs.map(async (log) => await read(second, log))), [null, null]);
  await shareLogFiles(parts);
  for (const traces of [first, second]) {
    const contents = await Promise.all(logs.map(async (log) => await read(traces, log)));
    assert.deepEqual(contents, ['of one', 'a xxxxxx word']);
  }
  assert.deepEqual(
    logs.map((log) => existsSync(pathOf(log))),
    [false, false],
  );
  assert.ok(!existsSync(join(parts.own.folder, String(project))), 'the empty folder is removed');
});

test('leaves the log of a job that runs until the job has ended', async () => {
  const log = await addLog('half', 'running');
  await shareLogFiles(parts);
  assert.deepEqual([await read(first, log), await read(second, log)], ['half', null]);
  // It ended while no runner and no service had its length.
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db }) =>
      void (await db.updateTable('jobs').set({ status: 'failed' }).where('id', '=', log.id).execute()),
  );
  await shareLogFiles(parts);
  assert.equal(await read(second, log), 'half');
  const { body } = await gantry.api(`GET /projects/${project}/jobs/${log.id}`);
  assert.equal(body.artifacts.find((one: { file_type: string }) => one.file_type === 'trace').size, 4);
});

test('removes a file whose log a runner has sent again to all services', async () => {
  const log = await addLog('sent', 'running');
  assert.deepEqual(await second.append(log, 4, Buffer.from(' twice')), { accepted: false, size: 0 });
  await second.append(log, 0, Buffer.from('sent twice'));
  await second.finish(log);
  await gantry.service.platform.store.write(
    async ({ db }) =>
      void (await db.updateTable('jobs').set({ status: 'success' }).where('id', '=', log.id).execute()),
  );
  await shareLogFiles(parts);
  assert.deepEqual([await read(first, log), existsSync(pathOf(log))], ['sent twice', false]);
});

test('removes the text of jobs that were erased or removed through another service', async () => {
  const [erased, removed] = [await addLog('erased'), await addLog('removed')];
  await addLog('later');
  await update(erased, { erased_at: Date.now(), trace_size: null });
  await gantry.service.platform.store.write(
    async ({ db }) => void (await db.deleteFrom('jobs').where('id', '=', removed.id).execute()),
  );
  await shareLogFiles(parts);
  assert.deepEqual([existsSync(pathOf(erased)), existsSync(pathOf(removed))], [false, false]);
  assert.deepEqual([await read(second, erased), await read(second, removed)], [null, null]);
});

test('keeps a file that no job explains, and names a damaged one once', async () => {
  const damaged = await addLog('will be cut');
  truncateSync(pathOf(damaged), 4);
  const unknown = { project_id: project, id: 1_000_000, trace_key: null };
  await gantry.service.platform.traces.append(unknown, 0, Buffer.from('of a newer database'));
  const named = new Set<number>();
  await shareLogFiles(parts, named);
  await shareLogFiles(parts, named);
  assert.deepEqual([existsSync(pathOf(damaged)), existsSync(pathOf(unknown))], [true, true]);
  assert.deepEqual(warned, ['a job log in the data folder is damaged; it stays there']);
  assert.equal(await read(second, damaged), null);
});

test('keeps the file while a backup may read it', async () => {
  const log = await addLog('kept');
  await shareLogFiles({ ...parts, mayRemove: async () => await Promise.resolve(false) });
  assert.deepEqual([await read(second, log), existsSync(pathOf(log))], ['kept', true]);
  await shareLogFiles(parts);
  assert.deepEqual([await read(second, log), existsSync(pathOf(log))], ['kept', false]);
});

test('leaves everything in the data folder while the bucket is unreachable', async () => {
  const log = await addLog('waits');
  const blobs = {
    ...parts.blobs,
    put: async () => await Promise.reject(new Error('away')),
  };
  await shareLogFiles({ ...parts, blobs });
  assert.deepEqual(warned, ['could not move job logs to the bucket; they stay in the data folder']);
  assert.equal(await read(first, log), 'waits');
  await shareLogFiles(parts);
  assert.equal(await read(second, log), 'waits');
});

test('keeps and names a file that is longer than what a runner has sent again', async () => {
  const log = await addLog('sent before', 'running');
  await second.append(log, 0, Buffer.from('sent'));
  await second.finish(log);
  await update(log, { status: 'failed' });
  const named = new Set<number>();
  await shareLogFiles(parts, named);
  await shareLogFiles(parts, named);
  assert.ok(existsSync(pathOf(log)));
  // The damaged one is still there, too.
  assert.deepEqual(
    warned.filter((message) => message.includes('longer')),
    ['a job log in the data folder is longer than the shared one, which is shown; it stays there'],
  );
});
