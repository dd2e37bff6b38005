import type { Call } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import { projectLevel } from '../access/viewer.ts';
import type { ProjectRow } from './rows.ts';

export type ProjectStatistics = {
  commit_count: number;
  storage_size: number;
  repository_size: number;
  lfs_objects_size: number;
  job_artifacts_size: number;
};

const statisticsOfOne = async (
  { platform }: Call,
  { id, repository_storage, default_branch }: ProjectRow,
): Promise<ProjectStatistics> => {
  const repository = platform.git.repository({ storage: repository_storage, id });
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
    storage_size: size,
    repository_size: size,
    lfs_objects_size: 0,
    job_artifacts_size: 0,
  };
};

/** How large these are and how many commits they have: of those where the caller is at least a reporter. */
export const statisticsOf = async (
  call: Call,
  rows: readonly ProjectRow[],
): Promise<Map<number, ProjectStatistics>> => {
  const told = rows.filter((row) => projectLevel(call.viewer, row) >= levels.reporter);
  return new Map(
    await Promise.all(told.map(async (row) => [row.id, await statisticsOfOne(call, row)] as const)),
  );
};
