import type { Reader } from '../db/open.ts';
import { type JobRow, jobColumns } from './rows.ts';

/** Jobs of one pipeline that are shown at once. */
const most = 500;

/** The jobs that count of a pipeline, in the order of its stages, and how many there are. */
export const shownJobs = async (
  db: Reader,
  pipelineId: number,
): Promise<{ jobs: JobRow[]; total: number }> => {
  const query = db.selectFrom('jobs').where('pipeline_id', '=', pipelineId).where('retried', '=', 0);
  const [{ total }, jobs] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.select(jobColumns).orderBy('stage_position').orderBy('id').limit(most).execute(),
  ]);
  return { jobs, total };
};
