import type { Call } from '../../../core/access/call.ts';
import { levels } from '../../../core/access/levels.ts';
import { getProjectLevel } from '../../../core/access/viewer.ts';
import type { ProjectRow } from '../rows.ts';

export type ProjectStatistics = {
  commit_count: number;
  storage_size: number;
  repository_size: number;
  lfs_objects_size: number;
  job_artifacts_size: number;
};

/** Selects the bytes of job artifacts and logs by project. */
const artifactBytes = async ({ db }: Call, rows: readonly ProjectRow[]): Promise<Map<number, number>> => {
  if (rows.length === 0) return new Map();
  const ids = rows.map(({ id }) => id);
  const sums = await db
    .selectFrom('artifacts')
    .select(({ fn }) => ['project_id', fn.sum<number | string>('size').as('bytes')])
    .where('project_id', 'in', ids)
    .groupBy('project_id')
    .execute();
  return new Map(sums.map(({ project_id, bytes }) => [project_id, Number(bytes)]));
};

const statisticsOfOne = async (
  { platform }: Call,
  project: ProjectRow,
  job_artifacts_size: number,
): Promise<ProjectStatistics> => {
  const { default_branch } = project;
  const repository = platform.git.repository(project);
  const head =
    default_branch === null
      ? null
      : await repository.ask('refs.get', { names: [`refs/heads/${default_branch}`] });
  const commit = head?.refs[0]?.commit ?? null;
  const [{ size }, walked] = await Promise.all([
    repository.ask('repository.statistics', {}),
    commit === null
      ? { total: 0 }
      : repository.ask('commits.list', { from: [commit], skip: 0, limit: 0, count: true }),
  ]);
  return {
    commit_count: walked.total ?? 0,
    storage_size: size + job_artifacts_size,
    repository_size: size,
    lfs_objects_size: 0,
    job_artifacts_size,
  };
};

/** Loads sizes and commit counts of the projects in which the caller is at least a reporter. */
export const loadStatistics = async (
  call: Call,
  rows: readonly ProjectRow[],
): Promise<Map<number, ProjectStatistics>> => {
  const readable = rows.filter((row) => getProjectLevel(call.viewer, row) >= levels.reporter);
  const bytes = await artifactBytes(call, readable);
  const loading = readable.map(
    async (row) => [row.id, await statisticsOfOne(call, row, bytes.get(row.id) ?? 0)] as const,
  );
  return new Map(await Promise.all(loading));
};
