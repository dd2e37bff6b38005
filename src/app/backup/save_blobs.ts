/** Adds the bytes that rows of the snapshot refer to: artifacts, uploads, avatars and logs. */
import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { artifactArea } from '../../ci/artifacts/rules.ts';
import { getAvatarArea } from '../../identity/avatars/store_avatar.ts';
import { type Blobs, getProjectArea } from '../../platform/blob/blob_files.ts';
import { isMissing } from '../../platform/blob/file_system.ts';
import { forEachConcurrently } from '../../platform/for_each_concurrently.ts';
import { getTracePath } from '../../platform/blob/trace_path.ts';
import type { BlobLine, ContentLine, LogLine, StoredObject } from './manifest.ts';
import { type BackupPlace, objectArea } from './places/backup_place.ts';
import type { StoredObjects } from './places/stored_objects.ts';
import type { Snapshot } from './snapshot.ts';

/** State while a backup is written. */
export type Saving = {
  place: BackupPlace;
  /** Objects that the place has. */
  objects: StoredObjects;
  snapshot: Snapshot;
  /** Bytes of this instance. */
  blobs: Pick<Blobs, 'get'>;
  /** The data folder. */
  data: string;
  /** Lines of the backup before, by key. */
  earlier: ReadonlyMap<string, ContentLine>;
  write: (line: ContentLine) => Promise<void>;
  /** Records missing or damaged data; the backup continues. */
  report: (problem: string) => void;
  /** Bytes that were added to the place. */
  added: (bytes: number) => void;
  advance: () => void;
};

/** Maximum files to copy concurrently. */
export const concurrency = 4;

/** What is needed to store an object. */
export type Storing = Pick<Saving, 'place' | 'objects' | 'added'>;

export const addObject = async (saving: Storing, content: Readable): Promise<StoredObject> => {
  const stored = await saving.place.blobs.put(objectArea, content);
  await saving.objects.add(stored);
  saving.added(stored.size);
  return stored;
};

type BlobRow = { area: string; sha256: string; size: number | null };

const listBlobs = function* listBlobs(snapshot: Snapshot): Generator<BlobRow> {
  for (const [table, areaOf] of [
    ['uploads', getProjectArea],
    ['artifacts', artifactArea],
  ] as const) {
    const rows = snapshot.each<{ project_id: number; sha256: string; size: number }>(
      `select project_id, sha256, max(size) as size from ${table} join projects on projects.id = project_id
        where projects.deleted_at is null group by project_id, sha256`,
    );
    for (const { project_id, sha256, size } of rows) yield { area: areaOf(project_id), sha256, size };
  }
  const avatars = snapshot.each<{ avatar: string }>(
    `select avatar from users where avatar is not null union select avatar from namespaces where avatar is not null
      union select avatar from projects where avatar is not null and deleted_at is null`,
  );
  for (const { avatar } of avatars)
    yield { area: getAvatarArea(avatar), sha256: avatar.split('/')[0] ?? '', size: null };
  const logs = snapshot.each<{ project_id: number; job_id: number; sha256: string }>(
    `select shared_traces.project_id, job_id, sha256 from shared_traces join projects on projects.id = project_id
      where sha256 is not null and projects.deleted_at is null`,
  );
  for (const { project_id, job_id, sha256 } of logs)
    yield { area: `${getProjectArea(project_id)}/traces/${job_id}`, sha256, size: null };
};

/** Adds a blob; null if it is missing or damaged. */
const saveBlob = async (saving: Saving, { area, sha256, size }: BlobRow): Promise<BlobLine | null> => {
  const { objects, blobs, report } = saving;
  const savedSize = objects.findSize(sha256);
  if (savedSize !== null && (size === null || size === savedSize))
    return { kind: 'blob', area, sha256, size: savedSize };
  const stream = await blobs.get(area, sha256);
  if (stream === null) {
    report(`${area}: the bytes ${sha256} are missing`);
    return null;
  }
  const stored = await addObject(saving, stream);
  if (stored.sha256 === sha256) return { kind: 'blob', area, ...stored };
  report(`${area}: the bytes ${sha256} are damaged`);
  return null;
};

/** @returns the number of blobs */
export const saveBlobs = async (saving: Saving): Promise<number> => {
  let count = 0;
  await forEachConcurrently(listBlobs(saving.snapshot), concurrency, async (row) => {
    const line = await saveBlob(saving, row);
    saving.advance();
    if (line === null) return;
    count += 1;
    await saving.write(line);
  });
  return count;
};

type LogRow = { id: number; project_id: number; trace_key: string | null; trace_size: number | null };

const openLog = async (file: string): Promise<FileHandle | null> => {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Adds the log of a job; null if there is none. A finished log that the previous backup has is not read again. */
const saveLog = async (saving: Saving, row: LogRow): Promise<LogLine | null> => {
  const { data, earlier, objects, report } = saving;
  const path = getTracePath(row);
  const earlierLog = earlier.get(`log ${path}`);
  const isKnown = earlierLog?.kind === 'log' && row.trace_size !== null && earlierLog.size === row.trace_size;
  if (isKnown && objects.has(earlierLog)) return earlierLog;
  const file = join(data, 'traces', path);
  const handle = await openLog(file);
  if (handle === null) {
    if (row.trace_size !== null) report(`the log of job ${row.id} is missing`);
    return null;
  }
  const stored = await addObject(saving, handle.createReadStream());
  return { kind: 'log', path, masked: existsSync(`${file}.masked`), ...stored };
};

/** Adds the logs in the data folder. @returns their number */
export const saveLogs = async (saving: Saving): Promise<number> => {
  let count = 0;
  const rows = saving.snapshot.each<LogRow>(
    `select jobs.id, jobs.project_id, trace_key, trace_size from jobs join projects on projects.id = jobs.project_id
      where projects.deleted_at is null and (started_at is not null or trace_size is not null)
      and not exists (select 1 from shared_traces where job_id = jobs.id)`,
  );
  await forEachConcurrently(rows, concurrency, async (row) => {
    const line = await saveLog(saving, row);
    saving.advance();
    if (line === null) return;
    count += 1;
    await saving.write(line);
  });
  return count;
};
