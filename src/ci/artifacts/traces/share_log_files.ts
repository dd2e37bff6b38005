/**
 * Moves the job logs of its own data folder to the bucket. A service wrote them there before it shared its logs with
 * others, which cannot read that folder; or a backup of such a service was restored to it.
 */
import { type Dirent, createReadStream, existsSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import { insertFileRow, updateFileRow } from '../../../platform/blob/append_file_rows.ts';
import type { Blobs } from '../../../platform/blob/blob_files.ts';
import { readSize } from '../../../platform/blob/file_system.ts';
import type { OwnLogs } from '../../../platform/blob/open_stores.ts';
import { runPeriodically } from '../../../platform/blob/run_periodically.ts';
import { type TraceKey, getTraceArea, getTracePath } from '../../../platform/blob/trace_path.ts';
import type { Reader, Store } from '../../../platform/db/open.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import { isEnded } from '../../../core/job_statuses.ts';

export type SharingParts = {
  store: Store;
  blobs: Blobs;
  log: Pick<Logger, 'info' | 'warn'>;
  own: OwnLogs;
  /** Whether files may be removed now: a backup that runs may still read them. */
  mayRemove: () => Promise<boolean>;
};

type Round = SharingParts & {
  /** Jobs whose log stays. They are named once. */
  left: Set<number>;
  moved: () => void;
};

/** Milliseconds between two rounds. */
const roundPause = 10 * 60_000;
/** Logs moved at once. */
const concurrency = 4;

/** The job of a file, and the shared log of that job if there is one. */
const loadJob = async (db: Reader, { id, project_id, trace_key }: TraceKey) =>
  (await db
    .selectFrom('jobs')
    .leftJoin('shared_traces', 'shared_traces.job_id', 'jobs.id')
    .select(['status', 'erased_at', 'trace_size', 'trace_crc', 'shared_traces.size as shared_size'])
    .where('jobs.id', '=', id)
    .where('jobs.project_id', '=', project_id)
    .where('trace_key', 'is not distinct from', trace_key)
    .executeTakeFirst()) ?? null;

type Job = NonNullable<Awaited<ReturnType<typeof loadJob>>>;

/** Whether the database is newer than a job that it does not know, which was removed then. */
const isRemoved = async (db: Reader, id: number): Promise<boolean> =>
  (await db.selectFrom('jobs').select('id').where('id', '>', id).limit(1).executeTakeFirst()) !== undefined;

/** Stores a file in the bucket if it is as recorded. @returns its digest; null: it is damaged */
const storeFile = async (
  { blobs }: Round,
  file: string,
  key: TraceKey,
  expected: Job,
): Promise<string | null> => {
  let crc = 0;
  const measure = async function* measure(): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      crc = crc32(chunk, crc);
      yield chunk;
    }
  };
  // The checksum is that of the bytes as sent, before secrets were masked.
  const isComparable = expected.trace_crc !== null && !existsSync(`${file}.masked`);
  let sha256: string | null = null;
  await blobs.put(
    getTraceArea(key),
    Readable.from(measure(), { objectMode: false }),
    async (stored, place) => {
      if (expected.trace_size !== null && stored.size !== expected.trace_size) return;
      if (isComparable && crc !== expected.trace_crc) return;
      await place();
      ({ sha256 } = stored);
    },
  );
  return sha256;
};

type Content = { size: number; sha256: string | null };

/** Records the shared log of a job. @returns false if the job was erased or removed meanwhile */
const recordShared = async (
  { store }: Round,
  key: TraceKey,
  expected: Job,
  { size, sha256 }: Content,
): Promise<boolean> =>
  await store.write(async (tx) => {
    const job = await tx.db
      .selectFrom('jobs')
      .select(['erased_at', 'trace_size'])
      .where('id', '=', key.id)
      .modifyEnd(tx.dialect.forUpdate)
      .executeTakeFirst();
    if (job === undefined || job.erased_at !== null) return false;
    if (job.trace_size === null)
      await tx.db.updateTable('jobs').set({ trace_size: size }).where('id', '=', key.id).execute();
    await insertFileRow(tx, key);
    await updateFileRow(tx, key, { size, crc: expected.trace_crc ?? 0, sha256 });
    return true;
  });

const warnOnce = ({ left, log }: Round, details: { job_id: number; file: string }, message: string): void => {
  if (!left.has(details.job_id)) log.warn(details, message);
  left.add(details.job_id);
};

/** @returns whether the file is not needed any more */
const shareFile = async (round: Round, key: TraceKey, file: string, job: Job): Promise<boolean> => {
  const size = await readSize(file);
  if (size === null) return false;
  if (job.shared_size !== null && job.shared_size >= size) return true;
  if (job.shared_size !== null) {
    // The job ended before its runner had sent the log once more, from the start, to the rows.
    warnOnce(
      round,
      { job_id: key.id, file },
      'a job log in the data folder is longer than the shared one, which is shown; it stays there',
    );
    return false;
  }
  const sha256 = size === 0 ? null : await storeFile(round, file, key, job);
  if (sha256 === null && (size > 0 || (job.trace_size ?? 0) > 0)) {
    warnOnce(round, { job_id: key.id, file }, 'a job log in the data folder is damaged; it stays there');
    return false;
  }
  if (await recordShared(round, key, job, { size, sha256 })) round.moved();
  else await round.blobs.removeArea(getTraceArea(key));
  return true;
};

const shareOne = async (round: Round, key: TraceKey): Promise<void> => {
  const { store, own, mayRemove } = round;
  const job = await loadJob(store.db, key);
  const isGone = job === null ? await isRemoved(store.db, key.id) : job.erased_at !== null;
  // A runner that continues with a log sends it again from its start, because the rows do not have it.
  if (!isGone && (job === null || !isEnded(job.status))) return;
  const file = join(own.folder, getTracePath(key));
  if (!isGone && job !== null && !(await shareFile(round, key, file, job))) return;
  // A backup that begins after this check sees what has been recorded before it.
  if (await mayRemove()) await own.files.remove(key);
};

const namePattern = /^(\d+)(?:-([\da-f]+))?\.log$/;

const parseName = (project_id: number, { name }: Dirent): TraceKey[] => {
  const [, id, trace_key = null] = namePattern.exec(name) ?? [];
  return id === undefined ? [] : [{ project_id, id: Number(id), trace_key }];
};

const shareAll = async (round: Round, isStopped: () => boolean): Promise<void> => {
  const { folder } = round.own;
  for (const project of await readdir(folder)) {
    if (!/^\d+$/.test(project)) continue;
    const entries = await readdir(join(folder, project), { withFileTypes: true });
    const keys = entries.flatMap((entry) => parseName(Number(project), entry));
    await forEachConcurrently(keys, concurrency, async (key) => {
      if (!isStopped()) await shareOne(round, key);
    });
    if (isStopped()) return;
    await rmdir(join(folder, project)).catch(() => undefined); // it has other files
  }
};

/** Moves what can be moved now. A failure ends the round, and the next one continues. */
export const shareLogFiles = async (
  parts: SharingParts,
  left: Set<number> = new Set(),
  isStopped: () => boolean = () => false,
): Promise<void> => {
  let count = 0;
  const { log } = parts;
  try {
    await shareAll({ ...parts, left, moved: () => (count += 1) }, isStopped);
  } catch (error) {
    if (!isStopped())
      log.warn({ err: error }, 'could not move job logs to the bucket; they stay in the data folder');
  }
  if (count > 0) log.info({ count }, 'moved job logs from the data folder to the bucket');
};

/** Returns a function that stops it. */
export const startSharingLogs = (parts: SharingParts): (() => void) => {
  const left = new Set<number>();
  let stopped = false;
  const stop = runPeriodically(roundPause, async () => await shareLogFiles(parts, left, () => stopped));
  return () => {
    stopped = true;
    stop();
  };
};
