/** Adds, changes and removes rules of protected branches and tags. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import type { Checked } from '../../../platform/http/precondition.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { enqueueWaitingMerges } from '../../../projects/projects/enqueue_waiting_merges.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { ProtectedBranch, ProtectedTag } from './rules.ts';

export type BranchRule = Pick<
  ProtectedBranch,
  'push_access_level' | 'merge_access_level' | 'allow_force_push'
>;

type RuleEvent = { kind: string; project_id: number; data: object };

const recordRuleEvent = async (tx: Tx, call: Call, { project_id, ...event }: RuleEvent): Promise<void> => {
  await enqueueWaitingMerges(tx, project_id);
  await recordEvent(tx, requireActor(call), {
    ...event,
    project_id,
    target_type: 'Project',
    target_id: project_id,
  });
};

const selectBranchRule = (tx: Tx, projectId: number, name: string) =>
  tx.db
    .selectFrom('protected_branches')
    .select(['id', 'name', 'push_access_level', 'merge_access_level', 'allow_force_push'])
    .where('project_id', '=', projectId)
    .where('name', '=', name);

/** Protects a branch, or changes its existing protection. */
export const setBranchRule = async (
  call: Call,
  { id: project_id }: Pick<Project, 'id'>,
  name: string,
  changes: Partial<BranchRule>,
): Promise<ProtectedBranch> =>
  await call.write(async (tx) => {
    const usual: BranchRule = { push_access_level: 40, merge_access_level: 40, allow_force_push: 0 };
    const existing = await selectBranchRule(tx, project_id, name).executeTakeFirst();
    const { id: _id, name: _name, ...before } = existing ?? { id: 0, name, ...usual };
    const rule = { ...before, ...changes };
    const row = await tx.db
      .insertInto('protected_branches')
      .values({ project_id, name, created_at: tx.now, ...rule })
      .onConflict((clash) => clash.columns(['project_id', 'name']).doUpdateSet(rule))
      .returning(['id', 'name', 'push_access_level', 'merge_access_level', 'allow_force_push'])
      .executeTakeFirstOrThrow();
    await recordRuleEvent(tx, call, { kind: 'protected_branch.set', project_id, data: { name, ...rule } });
    return row;
  });

/** @throws Failure 409 if a rule of this name exists */
export const addBranchRule = async (
  call: Call,
  { id: project_id }: Project,
  name: string,
  rule: BranchRule,
): Promise<ProtectedBranch> =>
  await call.write(async (tx) => {
    const row = await tx.db
      .insertInto('protected_branches')
      .values({ project_id, name, created_at: tx.now, ...rule })
      .onConflict((clash) => clash.columns(['project_id', 'name']).doNothing())
      .returning(['id', 'name', 'push_access_level', 'merge_access_level', 'allow_force_push'])
      .executeTakeFirst();
    if (row === undefined) throw conflict(`Protected branch '${name}' already exists`);
    await recordRuleEvent(tx, call, { kind: 'protected_branch.set', project_id, data: { name, ...rule } });
    return row;
  });

/** @throws Failure 404 if the rule does not exist */
export const changeBranchRule = async (
  call: Call,
  { id: project_id }: Project,
  name: string,
  { check, ...changes }: Checked<Partial<BranchRule>, ProtectedBranch>,
): Promise<ProtectedBranch> =>
  await call.write(async (tx) => {
    const existing = await selectBranchRule(tx, project_id, name)
      .modifyEnd(tx.dialect.forUpdate)
      .executeTakeFirst();
    if (existing === undefined) throw notFound();
    check?.(existing);
    if (Object.keys(changes).length === 0) return existing;
    await tx.db.updateTable('protected_branches').set(changes).where('id', '=', existing.id).execute();
    await recordRuleEvent(tx, call, { kind: 'protected_branch.set', project_id, data: { name, ...changes } });
    return { ...existing, ...changes };
  });

const removeRule = async (
  call: Call,
  { id: project_id }: Pick<Project, 'id'>,
  [table, kind]: ['protected_branches' | 'protected_tags', string],
  name: string,
): Promise<boolean> =>
  await call.write(async (tx) => {
    const removed = await tx.db
      .deleteFrom(table)
      .where('project_id', '=', project_id)
      .where('name', '=', name)
      .returning('id')
      .executeTakeFirst();
    if (removed !== undefined) await recordRuleEvent(tx, call, { kind, project_id, data: { name } });
    return removed !== undefined;
  });

/** @returns whether the rule existed */
export const removeBranchRule = async (
  call: Call,
  project: Pick<Project, 'id'>,
  name: string,
): Promise<boolean> =>
  await removeRule(call, project, ['protected_branches', 'protected_branch.unset'], name);

export const removeTagRule = async (call: Call, project: Project, name: string): Promise<boolean> =>
  await removeRule(call, project, ['protected_tags', 'protected_tag.unset'], name);

/** @throws Failure 409 if a rule of this name exists */
export const addTagRule = async (
  call: Call,
  { id: project_id }: Project,
  name: string,
  create_access_level: number,
): Promise<ProtectedTag> =>
  await call.write(async (tx) => {
    const row = await tx.db
      .insertInto('protected_tags')
      .values({ project_id, name, created_at: tx.now, create_access_level })
      .onConflict((clash) => clash.columns(['project_id', 'name']).doNothing())
      .returning(['id', 'name', 'create_access_level'])
      .executeTakeFirst();
    if (row === undefined) throw conflict(`Protected tag '${name}' already exists`);
    await recordRuleEvent(tx, call, {
      kind: 'protected_tag.set',
      project_id,
      data: { name, create_access_level },
    });
    return row;
  });
