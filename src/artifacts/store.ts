/** What jobs leave behind. */
import type { Readable } from 'node:stream';
import type { Selectable } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Range, Stored } from '../blob/files.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { ArtifactsTable } from '../db/schema_ci.ts';
import { forbidden, refused } from '../errors.ts';
import { heldStatuses } from '../job_statuses.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import { holdProject } from '../projects/hold.ts';
import { getBytes, keepBytes } from './bytes.ts';
import { type Dotenv, keepDotenv, readDotenv } from './dotenv.ts';
import { atMost } from './limited.ts';
import { largestArtifact } from './largest.ts';
import { artifactTooLarge, expiryOf } from './rules.ts';

export type Artifact = Selectable<ArtifactsTable>;
/** With the hash of its token: what comes is kept only while it still runs with that. */
export type JobOf = { id: number; project_id: number; token_hash?: string };

/** How an artifact is announced; `expire_in` as configurations write it, null where they do not. */
export type Announced = {
  file_type: string;
  file_format: 'zip' | 'gzip' | 'raw';
  filename: string;
  expire_in: string | null;
};

const sameType = async (db: Reader, jobId: number, fileType: string): Promise<Artifact | undefined> =>
  await db
    .selectFrom('artifacts')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('file_type', '=', fileType)
    .executeTakeFirst();

const insert = async (
  tx: Tx,
  job: JobOf,
  announced: Announced,
  { size, sha256 }: Stored,
): Promise<Artifact> => {
  const { file_type, file_format, filename, expire_in } = announced;
  const expire_at = expiryOf(expire_in, tx.now);
  await holdProject(tx, job.project_id);
  await tx.db.updateTable('jobs').set({ artifacts_expire_at: expire_at }).where('id', '=', job.id).execute();
  const place = { project_id: job.project_id, job_id: job.id, created_at: tx.now, expire_at };
  return await tx.db
    .insertInto('artifacts')
    .values({ ...place, file_type, file_format, filename, size, sha256 })
    .returningAll()
    .executeTakeFirstOrThrow();
};

/** Of one job: more kinds than there are, so that what it leaves cannot grow without end. */
const mostArtifacts = 50;

const countOf = async (db: Reader, jobId: number): Promise<number> => {
  const { count } = await db
    .selectFrom('artifacts')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return count;
};

/** It may have ended, been erased or be gone since its runner signed in: this holds it as it is. */
const requireRunning = async (tx: Tx, { id, token_hash }: JobOf): Promise<void> => {
  if (token_hash === undefined) return;
  const job = await tx.db
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', id)
    .where('token_hash', '=', token_hash)
    .where('status', 'in', heldStatuses)
    .modifyEnd(tx.words.forUpdate)
    .executeTakeFirst();
  if (job === undefined) throw forbidden();
};

type Kept = { announced: Announced; stored: Stored; dotenv: Dotenv | null };

const keep = async (platform: Platform, job: JobOf, kept: Kept): Promise<Artifact> =>
  await platform.store.write(async (tx) => {
    const { announced, stored, dotenv } = kept;
    await requireRunning(tx, job);
    const there = await sameType(tx.db, job.id, announced.file_type);
    // A runner that did not hear the answer sends it again.
    if (there?.sha256 === stored.sha256) return there;
    if (there !== undefined) throw refused('another artifact of the same type already exists');
    if ((await countOf(tx.db, job.id)) >= mostArtifacts) throw refused('too many artifacts');
    const row = await insert(tx, job, announced, stored);
    if (dotenv !== null) await keepDotenv(tx, platform, job.id, dotenv);
    return row;
  });

/**
 * Keeps what a job's runner sends; on disk before this answers.
 * @throws Failure 413 past the limit, 403 where its job runs no more, 400 for another file of the same type and for a dotenv that cannot be read
 */
export const addArtifact = async (
  platform: Platform,
  job: JobOf,
  announced: Announced,
  content: Readable,
): Promise<Artifact> => {
  const { project_id } = job;
  const limited = atMost(content, await largestArtifact(platform, project_id), artifactTooLarge);
  return await keepBytes(platform, project_id, limited, async (stored) => {
    const { file_type, file_format } = announced;
    const named = { project_id, sha256: stored.sha256 };
    const dotenv =
      file_type === 'dotenv' ? await readDotenv(await getBytes(platform, named), file_format) : null;
    return await keep(platform, job, { announced, stored, dotenv });
  });
};

/** One that has not expired. */
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
    .where(isKept(now))
    .executeTakeFirst();
  return row ?? null;
};

/** The bytes of an artifact. null: they are gone. */
export const artifactBytes = async (
  platform: Platform,
  artifact: Pick<Artifact, 'project_id' | 'sha256' | 'size'>,
  range?: Range,
): Promise<Readable | null> => await getBytes(platform, artifact, range);
