/** Loads the pipelines, users, runners, artifacts and commits of a page of jobs. */
import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { ArtifactsTable } from '../../platform/db/schema/ci.ts';
import { isGitFailure } from '../../platform/git/failure.ts';
import type { Commit, Oid } from '../../platform/git/protocol_types.ts';
import type { Repository } from '../../platform/git/repository.ts';
import type { PipelineRow } from '../../code/repository/statuses/pipeline_summary.ts';
import { loadCommits } from '../../code/repository/refs/resolve.ts';
import { type UserRow, usersById } from '../../identity/users/queries.ts';
import { isAvailableArtifact } from './artifact_availability.ts';
import type { JobRow } from './rows.ts';
import { type BasicRunnerRow, basicRunnerColumns } from './runner_json.ts';
import { rowsById } from '../../platform/db/rows_by_id.ts';

type ArtifactRow = Pick<
  Selectable<ArtifactsTable>,
  'job_id' | 'file_type' | 'file_format' | 'filename' | 'size'
>;

/** Maps by id; artifacts by job id. */
export type JobRelations = {
  pipelines: ReadonlyMap<number, PipelineRow>;
  users: ReadonlyMap<number, UserRow>;
  runners: ReadonlyMap<number, BasicRunnerRow>;
  artifacts: ReadonlyMap<number, ArtifactRow[]>;
  commits: ReadonlyMap<Oid, Commit>;
};

const withoutNulls = (ids: readonly (number | null)[]): number[] =>
  [...new Set(ids)].filter((id) => id !== null);

/** Loads the pipelines of these ids. */
export const loadPipelines = async (db: Reader, ids: readonly number[]): Promise<Map<number, PipelineRow>> =>
  rowsById(await db.selectFrom('pipelines').selectAll().where('id', 'in', ids).execute());

const loadRunners = async (db: Reader, ids: number[]): Promise<Map<number, BasicRunnerRow>> =>
  ids.length === 0
    ? new Map()
    : rowsById(await db.selectFrom('runners').select(basicRunnerColumns).where('id', 'in', ids).execute());

/** Loads the artifacts that have not expired, by job. */
export const loadArtifacts = async (
  db: Reader,
  jobIds: readonly number[],
  now: number,
): Promise<Map<number, ArtifactRow[]>> => {
  const rows = await db
    .selectFrom('artifacts')
    .select(['job_id', 'file_type', 'file_format', 'filename', 'size'])
    .where('job_id', 'in', jobIds)
    .where(isAvailableArtifact(now))
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, ({ job_id }) => job_id);
};

/** Loads commits; empty if the repository is gone, so that its jobs can still be listed. */
export const loadJobCommits = async (
  repository: Repository,
  ids: Iterable<Oid>,
): Promise<Map<Oid, Commit>> => {
  try {
    return await loadCommits(repository, ids);
  } catch (error) {
    if (isGitFailure(error, 'no_repository') || isGitFailure(error, 'missing')) return new Map();
    throw error;
  }
};

export const loadJobRelations = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  repository: Repository,
  jobs: readonly JobRow[],
): Promise<JobRelations> => {
  const empty = new Map<number, never>();
  if (jobs.length === 0) {
    return { pipelines: empty, users: empty, runners: empty, artifacts: empty, commits: new Map() };
  }
  const commitsAndPipelines = async () => {
    const pipelines = await loadPipelines(db, withoutNulls(jobs.map(({ pipeline_id }) => pipeline_id)));
    const ids = [...pipelines.values()].map(({ sha }) => sha);
    return { pipelines, commits: await loadJobCommits(repository, ids) };
  };
  const [codeRelations, users, runners, artifacts] = await Promise.all([
    commitsAndPipelines(),
    usersById(db, withoutNulls(jobs.map(({ user_id }) => user_id))),
    loadRunners(db, withoutNulls(jobs.map(({ runner_id }) => runner_id))),
    loadArtifacts(
      db,
      jobs.map(({ id }) => id),
      now,
    ),
  ]);
  return { ...codeRelations, users, runners, artifacts };
};
