import type { Call } from '../../../core/access/call.ts';
import { Failure, notFound } from '../../../platform/errors.ts';
import { findJob } from '../../jobs/find.ts';
import type { JobRow } from '../../jobs/rows.ts';

/**
 * Finds a job by its id. A job that the caller cannot read counts as missing.
 * @throws Failure 404
 */
export const findJobById = async (call: Call, id: number): Promise<JobRow> => {
  const row = await call.db.selectFrom('jobs').select('project_id').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound();
  try {
    return (await findJob(call, row.project_id, id)).job;
  } catch (error) {
    throw error instanceof Failure ? notFound() : error;
  }
};
