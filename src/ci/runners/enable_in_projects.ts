/** Enables runners of projects for other projects, and disables them. */
import type { Call } from '../../core/access/call.ts';
import { forbidden, invalid, notFound } from '../../platform/errors.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';
import { requireRoomInProject } from './registration/create.ts';
import { type SeenRunner, findRunner, lockRunner } from './lists/queries.ts';
import type { RunnerRow } from './rules.ts';
import { auditRunnerChange } from './audit_runner_change.ts';

const kinds = { instance_type: 'an instance runner', group_type: 'a group runner' };

const checkShareable = (call: Call, { runner_type, locked, edits }: SeenRunner): void => {
  if (runner_type !== 'project_type') throw forbidden(`Runner is ${kinds[runner_type]}`);
  if (edits === 0) throw forbidden();
  if (locked === 1 && !call.admin) throw forbidden('Runner is locked');
};

/**
 * Lets a runner take the jobs of one more project. The caller must manage it and all projects of the runner.
 * @throws Failure 404, 403, 400 if it is enabled already, or the project has too many
 */
export const enableRunner = async (call: Call, project_id: number, id: number): Promise<SeenRunner> => {
  await call.write(async (tx) => {
    await holdProject(tx, project_id);
    checkShareable(call, await lockRunner(call, tx, id, 'see'));
    await requireRoomInProject(tx, project_id);
    const { numInsertedOrUpdatedRows } = await tx.db
      .insertInto('runner_projects')
      .values({ runner_id: id, project_id })
      .onConflict((clash) => clash.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) throw invalid({ runner: ['has already been taken'] });
    await auditRunnerChange(tx, call, { kind: 'enabled', id, project_id });
  });
  return await findRunner(call, id, 'see');
};

const inUse = (): Error =>
  forbidden('Only one project associated with the runner. Please remove the runner instead');

/** @throws Failure 404, 403 for the runner's only project */
export const disableRunner = async (call: Call, project_id: number, id: number): Promise<void> =>
  await call.write(async (tx) => {
    const locked: RunnerRow | undefined = await tx.db
      .selectFrom('runners')
      .selectAll()
      .where('id', '=', id)
      .where('id', 'in', (from) =>
        from.selectFrom('runner_projects').select('runner_id').where('project_id', '=', project_id),
      )
      .modifyEnd(tx.dialect.forUpdate)
      .executeTakeFirst();
    if (locked === undefined) throw notFound('Runner');
    const links = tx.db.selectFrom('runner_projects').where('runner_id', '=', id);
    const otherLink = await links
      .select('project_id')
      .where('project_id', '<>', project_id)
      .executeTakeFirst();
    if (otherLink === undefined) throw inUse();
    await tx.db
      .deleteFrom('runner_projects')
      .where('runner_id', '=', id)
      .where('project_id', '=', project_id)
      .execute();
    await auditRunnerChange(tx, call, { kind: 'disabled', id, project_id });
  });
