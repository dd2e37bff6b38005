/** Loads what pages show of the jobs that deployed. */
import type { Selectable } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobsTable, PipelinesTable } from '../../../platform/db/schema/ci.ts';
import type { DeploymentRow } from '../queries.ts';

export type DeploymentJob = Pick<Selectable<JobsTable>, 'id' | 'name' | 'status' | 'retried'> &
  Pick<Selectable<PipelinesTable>, 'merge_request_id'>;

/** Loads the jobs of deployments, by id. */
export const loadDeploymentJobs = async (
  db: Reader,
  deployments: readonly Pick<DeploymentRow, 'job_id'>[],
): Promise<ReadonlyMap<number, DeploymentJob>> => {
  const ids = deployments.map(({ job_id }) => job_id).filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('jobs')
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .select(['jobs.id', 'jobs.name', 'jobs.status', 'jobs.retried', 'pipelines.merge_request_id'])
    .where('jobs.id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
};
