/** What stands beside jobs in their records, for a whole page at once. */
import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import type { ArtifactsTable } from '../db/schema_ci.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Commit, Oid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import type { PipelineRow } from '../repository/pipeline_brief.ts';
import { commitsById } from '../repository/resolve.ts';
import { type UserRow, usersById } from '../users/queries.ts';
import { isKept } from './kept_artifacts.ts';
import type { JobRow } from './rows.ts';
import { type BasicRunnerRow, basicRunnerColumns } from './runner_json.ts';

type ArtifactRow = Pick<
  Selectable<ArtifactsTable>,
  'job_id' | 'file_type' | 'file_format' | 'filename' | 'size'
>;

/** All by id; artifacts by the id of their job. */
export type Beside = {
  pipelines: ReadonlyMap<number, PipelineRow>;
  users: ReadonlyMap<number, UserRow>;
  runners: ReadonlyMap<number, BasicRunnerRow>;
  artifacts: ReadonlyMap<number, ArtifactRow[]>;
  commits: ReadonlyMap<Oid, Commit>;
};

const known = (ids: readonly (number | null)[]): number[] => [...new Set(ids)].filter((id) => id !== null);

const byId = <T extends { id: number }>(rows: T[]): Map<number, T> =>
  new Map(rows.map((row) => [row.id, row]));

const pipelinesOf = async (db: Reader, ids: number[]): Promise<Map<number, PipelineRow>> =>
  byId(await db.selectFrom('pipelines').selectAll().where('id', 'in', ids).execute());

const runnersOf = async (db: Reader, ids: number[]): Promise<Map<number, BasicRunnerRow>> =>
  ids.length === 0
    ? new Map()
    : byId(await db.selectFrom('runners').select(basicRunnerColumns).where('id', 'in', ids).execute());

/** Those that are still kept. */
const artifactsOf = async (
  db: Reader,
  jobIds: number[],
  now: number,
): Promise<Map<number, ArtifactRow[]>> => {
  const rows = await db
    .selectFrom('artifacts')
    .select(['job_id', 'file_type', 'file_format', 'filename', 'size'])
    .where('job_id', 'in', jobIds)
    .where(isKept(now))
    .orderBy('id')
    .execute();
  return Map.groupBy(rows, ({ job_id }) => job_id);
};

/** A repository that is gone keeps nobody from reading what ran. */
const commitsOf = async (repository: Repository, ids: Iterable<Oid>): Promise<Map<Oid, Commit>> => {
  try {
    return await commitsById(repository, ids);
  } catch (error) {
    if (isGitFailure(error, 'no_repository') || isGitFailure(error, 'missing')) return new Map();
    throw error;
  }
};

export const besideJobs = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  repository: Repository,
  jobs: readonly JobRow[],
): Promise<Beside> => {
  const none = new Map<number, never>();
  if (jobs.length === 0) {
    return { pipelines: none, users: none, runners: none, artifacts: none, commits: new Map() };
  }
  const commitsAndPipelines = async () => {
    const pipelines = await pipelinesOf(db, known(jobs.map(({ pipeline_id }) => pipeline_id)));
    const ids = [...pipelines.values()].map(({ sha }) => sha);
    return { pipelines, commits: await commitsOf(repository, ids) };
  };
  const [ofCode, users, runners, artifacts] = await Promise.all([
    commitsAndPipelines(),
    usersById(db, known(jobs.map(({ user_id }) => user_id))),
    runnersOf(db, known(jobs.map(({ runner_id }) => runner_id))),
    artifactsOf(
      db,
      jobs.map(({ id }) => id),
      now,
    ),
  ]);
  return { ...ofCode, users, runners, artifacts };
};
