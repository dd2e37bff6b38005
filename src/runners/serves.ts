import type { Reader } from '../db/open.ts';
import { Failure } from '../errors.ts';
import type { RunnerRow } from './rules.ts';

/**
 * A runner of projects that are all gone has nothing to do.
 * @throws Failure 422
 */
export const checkServes = async (db: Reader, { id, runner_type }: RunnerRow): Promise<void> => {
  if (runner_type !== 'project_type') return;
  const project = await db
    .selectFrom('runner_projects')
    .select('project_id')
    .where('runner_id', '=', id)
    .executeTakeFirst();
  if (project === undefined) throw new Failure('unprocessable', { message: '422 Runner is orphaned' });
};
