/** Changes which jobs may access a project. Each change is one transaction with an entry in the audit log. */
import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { holdProject } from '../projects/lock_project.ts';

/** Maximum number of entries in each of the two lists. */
export const maxAllowlistEntries = 200;

type ChangeNotice = { verb: 'changed' | 'added' | 'removed'; data: object };

const note = async (tx: Tx, call: Call, projectId: number, { verb, data }: ChangeNotice): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `job_token_scope.${verb}`,
    project_id: projectId,
    target_type: 'Project',
    target_id: projectId,
    data,
  });

/** Enables or disables the allowlist. Without it, jobs of any project see what their users see. */
export const switchList = async (call: Call, projectId: number, enabled: boolean): Promise<void> =>
  await call.write(async (tx) => {
    await holdProject(tx, projectId);
    const { numUpdatedRows } = await tx.db
      .updateTable('projects')
      .set({ job_token_list_enabled: toFlag(enabled) })
      .where('id', '=', projectId)
      .where('job_token_list_enabled', '=', enabled ? 0 : 1)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) await note(tx, call, projectId, { verb: 'changed', data: { enabled } });
  });

/** One of the two allowlists: projects or groups. */
type List = 'project' | 'group';

const tables = { project: 'job_token_projects', group: 'job_token_groups' } as const;
const columns = { project: 'target_project_id', group: 'target_group_id' } as const;

type Entry = { list: List; projectId: number; target: number };

const insert = async (tx: Tx, { list, projectId: project_id, target }: Entry): Promise<boolean> => {
  const row = { project_id, created_at: tx.now };
  const query =
    list === 'project'
      ? tx.db.insertInto('job_token_projects').values({ ...row, target_project_id: target })
      : tx.db.insertInto('job_token_groups').values({ ...row, target_group_id: target });
  const { numInsertedOrUpdatedRows = 0n } = await query
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows > 0n;
};

/** Locks the listed project or group, which may be about to be deleted. */
const holdTarget = async (tx: Tx, { list, target }: Entry): Promise<void> => {
  if (list === 'project') return await holdProject(tx, target);
  const row = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', target)
    .where('deleted_at', 'is', null)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Group');
};

/** Adds an entry. @throws Failure 400 for a duplicate, for the project itself, and past the limit; 404 */
export const addToList = async (call: Call, entry: Entry): Promise<void> => {
  const { list, projectId, target } = entry;
  const column = columns[list];
  if (list === 'project' && target === projectId) {
    throw invalid({ [column]: ["can't be the same as the source project"] });
  }
  await call.write(async (tx) => {
    // Locks in order of ids, so that two projects that list each other concurrently do not deadlock.
    if (list === 'project' && target < projectId) await holdTarget(tx, entry);
    await holdProject(tx, projectId);
    if (list === 'group' || target > projectId) await holdTarget(tx, entry);
    const there = tx.db.selectFrom(tables[list]).where('project_id', '=', projectId);
    await requireRecordQuota(there, { what: `job token allowlist ${list}s`, most: maxAllowlistEntries });
    if (!(await insert(tx, entry))) throw invalid({ [column]: ['has already been taken'] });
    await note(tx, call, projectId, { verb: 'added', data: { [column]: target } });
  });
};

/** Removes an entry. @throws Failure 400 for the project itself, 404 for a missing entry */
export const removeFromList = async (call: Call, { list, projectId, target }: Entry): Promise<void> => {
  const column = columns[list];
  if (list === 'project' && target === projectId) {
    throw invalid({ [column]: ['is the project itself, which cannot be removed'] });
  }
  await call.write(async (tx) => {
    await holdProject(tx, projectId);
    const query =
      list === 'project'
        ? tx.db.deleteFrom('job_token_projects').where('target_project_id', '=', target)
        : tx.db.deleteFrom('job_token_groups').where('target_group_id', '=', target);
    const { numDeletedRows } = await query.where('project_id', '=', projectId).executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw notFound(list === 'project' ? 'Project' : 'Group');
    await note(tx, call, projectId, { verb: 'removed', data: { [column]: target } });
  });
};
