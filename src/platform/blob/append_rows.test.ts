/** Job logs in database rows, written by several services, and moved to a bucket when finished. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { seedPipeline } from '../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import type { AppendFiles } from './append_files.ts';
import type { TraceKey } from './trace_path.ts';
import { openAppendRows } from './append_rows.ts';
import { archiveWaitingFiles } from './retry_archiving.ts';
import type { Blobs } from './blob_files.ts';

let gantry: TestService;
let of: TraceKey;
/** Two services that share a store. */
let one: AppendFiles;
let two: AppendFiles;
let blobs: Blobs;
let failures: unknown[];
let isAway: boolean;
/** Runs while the bucket receives an upload. */
let meanwhile: () => Promise<unknown>;

const parts = () => {
  const { store, traces: files } = gantry.service.platform;
  return { store, blobs, files, onFailure: (error: unknown) => void failures.push(error) };
};
const open = (): AppendFiles => openAppendRows(parts());

before(async () => {
  gantry = await startTestService();
  const project = await seedProject(gantry);
  const { jobs } = await seedPipeline(gantry, { project: project.id, file: 'a: { script: x }' });
  of = { project_id: project.id, id: jobs['a'] ?? 0, trace_key: null };
  const { blobs: own } = gantry.service.platform;
  blobs = {
    ...own,
    put: async (area, content) => {
      if (!isAway) {
        const stored = await own.put(area, content);
        await meanwhile();
        return stored;
      }
      content.destroy();
      throw new Error('away');
    },
  };
  [one, two] = [open(), open()];
});
beforeEach(async () => {
  [isAway, failures, meanwhile] = [false, [], async () => undefined];
  await one.remove(of);
});
after(async () => await gantry.close());

const bytes = (words: string): Buffer => Buffer.from(words);
const contentOf = async (
  traces: AppendFiles,
  range?: { start: number; end: number },
): Promise<string | null> => {
  const stream = await traces.read(of, range);
  return stream === null ? null : await text(stream);
};
const rows = async (): Promise<number> =>
  (await gantry.service.platform.store.db.selectFrom('shared_trace_pieces').select('start').execute()).length;
const areaOf = (): string => `projects/${of.project_id}/traces/${of.id}`;

test('one service reads and continues what another appended', async () => {
  assert.deepEqual([await one.size(of), await one.state(of), await contentOf(one)], [null, null, null]);
  assert.deepEqual(await one.append(of, 0, bytes('one ')), { accepted: true, size: 4 });
  assert.deepEqual(await two.append(of, 4, bytes('two ')), { accepted: true, size: 8 });
  assert.deepEqual(await one.append(of, 8, bytes('three')), { accepted: true, size: 13 });
  for (const traces of [one, two]) {
    assert.equal(await contentOf(traces), 'one two three');
    assert.equal(await contentOf(traces, { start: 2, end: 9 }), 'e two th');
    assert.equal(await contentOf(traces, { start: 12, end: 12 }), 'e');
    assert.deepEqual(await traces.state(of), { size: 13, crc: crc32('one two three') });
  }
});

test('accepts a chunk repeated through another service only if it is unchanged', async () => {
  assert.deepEqual(await one.append(of, 3, bytes('x')), { accepted: false, size: 0 });
  assert.equal(await one.size(of), null);
  await one.append(of, 0, bytes('abc'));
  await one.append(of, 3, bytes('def'));
  assert.deepEqual(await two.append(of, 0, bytes('abcdef')), { accepted: true, size: 6 });
  assert.deepEqual(await two.append(of, 2, bytes('cdefgh')), { accepted: true, size: 8 });
  assert.deepEqual(await two.append(of, 4, bytes('eXgh')), { accepted: false, size: 8 });
  assert.deepEqual(await one.append(of, 9, bytes('z')), { accepted: false, size: 8 });
  assert.deepEqual(await one.append(of, 8, bytes('')), { accepted: true, size: 8 });
  assert.equal(await contentOf(one), 'abcdefgh');
});

test('stores concurrent pieces once when each is sent through both services', async () => {
  const pieces = Array.from({ length: 40 }, (_one, at) => bytes(`line ${at}\n`));
  let offset = 0;
  for (const piece of pieces) {
    const at = offset;
    offset += piece.length;
    const answers = await Promise.all([one.append(of, at, piece), two.append(of, at, piece)]);
    assert.ok(answers.every(({ accepted, size }) => accepted && size === offset));
  }
  assert.equal(await contentOf(two), Buffer.concat(pieces).toString());
});

test('a secret is never to be read, wherever it is cut', async () => {
  const secret = 'glcbt-0123456789';
  const whole = `a ${secret} b ${secret}${secret} c`;
  for (let cut = 1; cut < whole.length; cut += 1) {
    await one.remove(of);
    await one.append(of, 0, bytes(whole.slice(0, cut)), [secret, '']);
    await two.append(of, cut, bytes(whole.slice(cut)), [secret, '']);
    assert.equal(await contentOf(one), whole.replaceAll(secret, 'x'.repeat(secret.length)));
    assert.deepEqual(await one.state(of), { size: whole.length, crc: crc32(whole) });
  }
});

test('keeps pieces small, however many secrets they contain or cut', async () => {
  const secret = 'glcbt-0123456789';
  const whole = `${secret.slice(8)} all of ${secret} and ${secret.slice(0, 8)}`;
  let size = 0;
  for (let at = 0; at < 30; at += 1) ({ size } = await one.append(of, size, bytes(whole), [secret]));
  const { db } = gantry.service.platform.store;
  const kept = await db.selectFrom('shared_trace_pieces').select('bytes').execute();
  assert.ok(Math.max(...kept.map((piece) => piece.bytes.length)) < 2 * whole.length);
  const hidden = 'x'.repeat(secret.length);
  assert.equal(await contentOf(two), whole.repeat(30).replaceAll(secret, hidden));
});

test('masks a secret in chunks of any size', async () => {
  for (let round = 0; round < 12; round += 1) {
    await one.remove(of);
    const secret = `${'s'.repeat([2, 40, 300][round % 3] ?? 0)}${round % 10}`;
    const whole = `${'a'.repeat(round * 7)} ${secret} b ${secret} c${'d'.repeat(100)} ${secret}`;
    for (let at = 0; at < whole.length;) {
      const piece = whole.slice(at, at + 1 + Math.floor(Math.random() * 150));
      await (at % 2 === 0 ? one : two).append(of, at, bytes(piece), [secret]);
      at += piece.length;
    }
    assert.equal(await contentOf(two), whole.replaceAll(secret, 'x'.repeat(secret.length)));
  }
});

test('moves a finished log to the bucket, and back when more is appended', async () => {
  await one.append(of, 0, bytes('one '));
  await two.append(of, 4, bytes('two'));
  assert.deepEqual(await two.finish(of), { size: 7, crc: crc32('one two') });
  assert.equal(await rows(), 0);
  assert.deepEqual([await contentOf(one), await contentOf(one, { start: 2, end: 5 })], ['one two', 'e tw']);
  assert.deepEqual(await one.finish(of), { size: 7, crc: crc32('one two') });
  assert.deepEqual(await one.append(of, 0, bytes('one two')), { accepted: true, size: 7 });
  assert.deepEqual(await one.append(of, 7, bytes(' and more')), { accepted: true, size: 16 });
  assert.equal(await contentOf(two), 'one two and more');
  assert.deepEqual(await one.finish(of), { size: 16, crc: crc32('one two and more') });
  assert.equal(await contentOf(two), 'one two and more');
});

test('a reader continues while the log moves to the bucket', async () => {
  const pieces = Array.from({ length: 30 }, (_one, at) => `${at} `.repeat(40));
  let size = 0;
  for (const piece of pieces) ({ size } = await one.append(of, size, bytes(piece)));
  const stream = await two.read(of);
  assert.ok(stream !== null);
  let read = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (read === '') await one.finish(of);
    read += chunk.toString();
  }
  assert.equal(read, pieces.join(''));
});

test('keeps finished logs in the database while the bucket is unreachable', async () => {
  isAway = true;
  await one.append(of, 0, bytes('kept'));
  assert.deepEqual(await one.finish(of), { size: 4, crc: crc32('kept') });
  assert.equal(failures.length, 1);
  assert.equal(await contentOf(two), 'kept');
});

const whole = async () =>
  await gantry.service.platform.store.db.selectFrom('shared_traces').selectAll().executeTakeFirstOrThrow();

test('retries archiving until the bucket accepts the log', async () => {
  isAway = true;
  await one.append(of, 0, bytes('kept'));
  await one.finish(of);
  for (let round = 1; round <= 3; round += 1) {
    await archiveWaitingFiles(parts());
    assert.deepEqual([failures.length, await rows()], [1 + round, 1]);
  }
  isAway = false;
  await archiveWaitingFiles(parts());
  assert.equal(await rows(), 0);
  const { sha256, waits_since } = await whole();
  assert.deepEqual([await blobs.has(areaOf(), sha256 ?? ''), waits_since], [true, null]);
  assert.equal(await contentOf(two), 'kept');
  await archiveWaitingFiles(parts());
  assert.equal(failures.length, 4);
});

test('does not archive a log that still grows', async () => {
  await one.append(of, 0, bytes('grows'));
  await archiveWaitingFiles(parts());
  assert.equal(await rows(), 1);
});

test('archives later what was appended during an upload', async () => {
  await one.append(of, 0, bytes('one '));
  meanwhile = async () => {
    meanwhile = async () => undefined;
    await two.append(of, 4, bytes('two'));
  };
  await one.finish(of);
  assert.equal(await rows(), 2);
  await archiveWaitingFiles(parts());
  assert.equal(await rows(), 0);
  assert.equal(await contentOf(one), 'one two');
});

test('a log that the bucket refuses does not delay others', async () => {
  const { store } = gantry.service.platform;
  const { jobs } = await seedPipeline(gantry, { project: of.project_id, file: 'b: { script: x }' });
  const other = { project_id: of.project_id, id: jobs['b'] ?? 0, trace_key: null };
  isAway = true;
  for (const log of [of, other]) {
    await one.append(log, 0, bytes(`of ${log.id}`));
    await one.finish(log);
  }
  isAway = false;
  const { put } = blobs;
  const refusing: Blobs = {
    ...blobs,
    put: async (area, content) => {
      if (area !== areaOf()) return await put(area, content);
      content.destroy();
      throw new Error('refused');
    },
  };
  const waiting = async () =>
    (
      await store.db
        .selectFrom('shared_traces')
        .select('job_id')
        .where('sha256', 'is', null)
        .orderBy('job_id')
        .execute()
    ).map(({ job_id }) => job_id);
  gantry.setTime(Date.now() + 60_000);
  await archiveWaitingFiles({ ...parts(), blobs: refusing });
  assert.deepEqual(await waiting(), [of.id, other.id]);
  await archiveWaitingFiles({ ...parts(), blobs: refusing });
  assert.deepEqual(await waiting(), [of.id]);
  gantry.setTime(null);
  await one.remove(other);
});

test('leaves nothing in the bucket of a log erased during its upload', async () => {
  await one.append(of, 0, bytes('secret'));
  let stored = '';
  const { put } = blobs;
  const watched: Blobs = {
    ...blobs,
    put: async (area, content) => {
      const made = await put(area, content);
      stored = made.sha256;
      await two.remove(of);
      // As if it had arrived a moment later.
      await put(area, Readable.from([bytes('secret')]));
      return made;
    },
  };
  await openAppendRows({ ...parts(), blobs: watched }).finish(of);
  assert.equal(await blobs.has(areaOf(), stored), false);
});

test('replaces the whole content, which may be sent again', async () => {
  await one.append(of, 0, bytes('before'));
  await two.replace(of, bytes('one two secret'), ['secret']);
  assert.equal(await contentOf(one), 'one two xxxxxx');
  await one.restart(of);
  assert.deepEqual(await two.state(of), { size: 0, crc: 0 });
  await two.append(of, 0, bytes('new'));
  assert.equal(await contentOf(one), 'new');
});

test('notifies watchers on every service of each change until they unsubscribe', async () => {
  let heard = 0;
  const end = two.watch(of, () => (heard += 1));
  assert.ok(two.isWatched(of) && !one.isWatched(of));
  for (const change of [() => one.append(of, 0, bytes('a')), () => one.remove(of)]) {
    const before = heard;
    await change();
    assert.ok(heard > before);
  }
  end();
  const before = heard;
  assert.ok(!two.isWatched(of));
  await one.append(of, 0, bytes('a'));
  assert.equal(heard, before);
});

test('removes logs from rows and bucket, and still reads files of an earlier version', async () => {
  await one.append(of, 0, bytes('text'));
  await one.finish(of);
  const { sha256 } = await gantry.service.platform.store.db
    .selectFrom('shared_traces')
    .select('sha256')
    .executeTakeFirstOrThrow();
  assert.equal(await blobs.has(areaOf(), sha256 ?? ''), true);
  await two.remove(of);
  assert.equal(await blobs.has(areaOf(), sha256 ?? ''), false);
  assert.equal(await contentOf(one), null);
  const { traces } = gantry.service.platform;
  await traces.append(of, 0, bytes('of before'));
  assert.deepEqual([await contentOf(one), await one.size(of)], ['of before', 9]);
  assert.deepEqual(await one.finish(of), { size: 9, crc: crc32('of before') });
  await two.append(of, 0, bytes('x'));
  await one.removeProject(of.project_id);
  assert.deepEqual([await contentOf(one), await contentOf(two)], [null, null]);
});
