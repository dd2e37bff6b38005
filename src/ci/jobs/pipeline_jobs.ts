import type { Reader } from '../../platform/db/open.ts';
import { type JobRow, jobColumns } from './rows.ts';

/** Jobs of one pipeline that a page shows. */
const maxShown = 500;

/** Loads the current jobs of a pipeline in stage order, with their total. Retried jobs are excluded. */
export const loadPipelineJobs = async (
  db: Reader,
  pipelineId: number,
): Promise<{ jobs: JobRow[]; total: number }> => {
  const query = db.selectFrom('jobs').where('pipeline_id', '=', pipelineId).where('retried', '=', 0);
  const [{ total }, jobs] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.select(jobColumns).orderBy('stage_position').orderBy('id').limit(maxShown).execute(),
  ]);
  return { jobs, total };
};
