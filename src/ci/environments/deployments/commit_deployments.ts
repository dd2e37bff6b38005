/** Finds where the pipelines of a commit deployed to. */
import type { Reader } from '../../../platform/db/open.ts';
import type { DeploymentRow, EnvironmentRow } from '../queries.ts';

export type CommitDeployment = Pick<EnvironmentRow, 'name' | 'external_url'> &
  Pick<DeploymentRow, 'id' | 'environment_id' | 'status' | 'created_at' | 'finished_at'>;

/** Deployments of a commit that are read, and environments that are returned. */
const maxRead = 100;
const maxReturned = 10;

/** Loads the newest deployment to each environment that is not stopped, newest first. */
export const loadCommitDeployments = async (
  db: Reader,
  projectId: number,
  sha: string,
): Promise<CommitDeployment[]> => {
  const rows = await db
    .selectFrom('pipelines')
    .innerJoin('jobs', 'jobs.pipeline_id', 'pipelines.id')
    .innerJoin('deployments', 'deployments.job_id', 'jobs.id')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .select([
      'deployments.id',
      'deployments.environment_id',
      'deployments.status',
      'deployments.created_at',
      'deployments.finished_at',
      'environments.name',
      'environments.external_url',
    ])
    .where('pipelines.project_id', '=', projectId)
    .where('pipelines.sha', '=', sha)
    .where('environments.state', '<>', 'stopped')
    .orderBy('deployments.id', 'desc')
    .limit(maxRead)
    .execute();
  const newest = new Map<number, CommitDeployment>();
  for (const row of rows) if (!newest.has(row.environment_id)) newest.set(row.environment_id, row);
  return [...newest.values()].slice(0, maxReturned);
};
