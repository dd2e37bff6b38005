import type { Reader } from '../../platform/db/open.ts';
import { Failure } from '../../platform/errors.ts';
import type { RunnerRow } from './rules.ts';

/**
 * Refuses a project runner that no longer belongs to any project.
 * @throws Failure 422
 */
export const refuseOrphanedRunner = async (db: Reader, { id, runner_type }: RunnerRow): Promise<void> => {
  if (runner_type !== 'project_type') return;
  const project = await db
    .selectFrom('runner_projects')
    .select('project_id')
    .where('runner_id', '=', id)
    .executeTakeFirst();
  if (project === undefined) throw new Failure('unprocessable', { message: '422 Runner is orphaned' });
};
