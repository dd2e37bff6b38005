import type { Reader } from '../../platform/db/open.ts';

/**
 * Loads the names of needed jobs, by the id of the waiting job, for the current jobs of a pipeline that wait for needs
 * instead of stages. A job that waits for no job has an empty list.
 */
export const loadNeeds = async (db: Reader, pipelineId: number): Promise<Map<number, string[]>> => {
  const rows = await db
    .selectFrom('jobs')
    .leftJoin('job_needs', 'job_needs.job_id', 'jobs.id')
    .select(['jobs.id', 'job_needs.name'])
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('jobs.by_needs', '=', 1)
    .orderBy('jobs.id')
    .orderBy('job_needs.name')
    .execute();
  const byJob = Map.groupBy(rows, ({ id }) => id);
  return new Map(
    [...byJob].map(([id, ofJob]) => [id, ofJob.map(({ name }) => name).filter((name) => name !== null)]),
  );
};
