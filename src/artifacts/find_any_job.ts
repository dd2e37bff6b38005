import type { Call } from '../access/call.ts';
import { Failure, notFound } from '../errors.ts';
import { findJob } from '../jobs/find.ts';
import type { JobRow } from '../jobs/rows.ts';

/**
 * A job by its id alone. What may not be read is as what is missing.
 * @throws Failure 404
 */
export const findAnyJob = async (call: Call, id: number): Promise<JobRow> => {
  const row = await call.db.selectFrom('jobs').select('project_id').where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound();
  try {
    return (await findJob(call, row.project_id, id)).job;
  } catch (error) {
    throw error instanceof Failure ? notFound() : error;
  }
};
