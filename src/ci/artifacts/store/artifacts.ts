/** Artifacts of jobs: their rows and bytes. */
import type { Readable } from 'node:stream';
import type { Selectable } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { Range, Stored } from '../../../platform/blob/blob_files.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { ArtifactsTable } from '../../../platform/db/schema/ci.ts';
import { forbidden, refused } from '../../../platform/errors.ts';
import { heldStatuses } from '../../../core/job_statuses.ts';
import { isAvailableArtifact } from '../../jobs/artifact_availability.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { getBlob, storeBlob } from './artifact_blobs.ts';
import { type Dotenv, storeDotenv, readDotenv } from '../reports/dotenv.ts';
import { limitBytes } from './limit_bytes.ts';
import { getArtifactSizeLimit } from './size_limit.ts';
import { artifactTooLarge, computeExpiry } from '../rules.ts';

export type Artifact = Selectable<ArtifactsTable>;
/** The job of an upload. `token_hash`: accept it only while the job still runs with that token. */
export type UploadingJob = { id: number; project_id: number; token_hash?: string };

/** Metadata of an upload; `expire_in` as in the CI file, null if not set. */
export type ArtifactMetadata = {
  file_type: string;
  file_format: 'zip' | 'gzip' | 'raw';
  filename: string;
  expire_in: string | null;
};

const findArtifactOfType = async (
  db: Reader,
  jobId: number,
  fileType: string,
): Promise<Artifact | undefined> =>
  await db
    .selectFrom('artifacts')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('file_type', '=', fileType)
    .executeTakeFirst();

const insert = async (
  tx: Tx,
  job: UploadingJob,
  metadata: ArtifactMetadata,
  { size, sha256 }: Stored,
): Promise<Artifact> => {
  const { file_type, file_format, filename, expire_in } = metadata;
  const expire_at = computeExpiry(expire_in, tx.now);
  await holdProject(tx, job.project_id);
  await tx.db.updateTable('jobs').set({ artifacts_expire_at: expire_at }).where('id', '=', job.id).execute();
  const columns = { project_id: job.project_id, job_id: job.id, created_at: tx.now, expire_at };
  return await tx.db
    .insertInto('artifacts')
    .values({ ...columns, file_type, file_format, filename, size, sha256 })
    .returningAll()
    .executeTakeFirstOrThrow();
};

/** Maximum artifacts of one job, more than there are kinds, so that a job cannot fill the disk. */
const maxArtifacts = 50;

const countArtifacts = async (db: Reader, jobId: number): Promise<number> => {
  const { count } = await db
    .selectFrom('artifacts')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return count;
};

/** Locks the job, which may have ended, been erased or been deleted since the request was authenticated. */
const requireRunning = async (tx: Tx, { id, token_hash }: UploadingJob): Promise<void> => {
  if (token_hash === undefined) return;
  const job = await tx.db
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', id)
    .where('token_hash', '=', token_hash)
    .where('status', 'in', heldStatuses)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (job === undefined) throw forbidden();
};

type NewArtifactRow = { metadata: ArtifactMetadata; stored: Stored; dotenv: Dotenv | null };

const storeArtifact = async (
  platform: Platform,
  job: UploadingJob,
  upload: NewArtifactRow,
): Promise<Artifact> =>
  await platform.store.write(async (tx) => {
    const { metadata, stored, dotenv } = upload;
    await requireRunning(tx, job);
    const existing = await findArtifactOfType(tx.db, job.id, metadata.file_type);
    // A runner that missed the answer sends the file again.
    if (existing?.sha256 === stored.sha256) return existing;
    if (existing !== undefined) throw refused('another artifact of the same type already exists');
    if ((await countArtifacts(tx.db, job.id)) >= maxArtifacts) throw refused('too many artifacts');
    const row = await insert(tx, job, metadata, stored);
    if (dotenv !== null) await storeDotenv(tx, platform, job.id, dotenv);
    return row;
  });

/**
 * Stores a file that a job's runner uploads. It is on disk before this resolves.
 * @throws Failure 413 past the limit, 403 if the job no longer runs, 400 for a second file of the same type and for
 * an invalid dotenv file
 */
export const addArtifact = async (
  platform: Platform,
  job: UploadingJob,
  metadata: ArtifactMetadata,
  content: Readable,
): Promise<Artifact> => {
  const { project_id } = job;
  const limited = limitBytes(content, await getArtifactSizeLimit(platform, project_id), artifactTooLarge);
  return await storeBlob(platform, project_id, limited, async (stored) => {
    const { file_type, file_format } = metadata;
    const blob = { project_id, sha256: stored.sha256 };
    const dotenv =
      file_type === 'dotenv' ? await readDotenv(await getBlob(platform, blob), file_format) : null;
    return await storeArtifact(platform, job, { metadata, stored, dotenv });
  });
};

/** Finds an artifact that has not expired. */
export const findArtifact = async (
  db: Reader,
  jobId: number,
  { now, file_type = 'archive' }: { now: number; file_type?: string },
): Promise<Artifact | null> => {
  const row = await db
    .selectFrom('artifacts')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('file_type', '=', file_type)
    .where(isAvailableArtifact(now))
    .executeTakeFirst();
  return row ?? null;
};

/** Opens the bytes of an artifact; null if they are missing. */
export const openArtifact = async (
  platform: Platform,
  artifact: Pick<Artifact, 'project_id' | 'sha256' | 'size'>,
  range?: Range,
): Promise<Readable | null> => await getBlob(platform, artifact, range);
