/** Projects and groups as owners of labels and milestones, which both load and change in the same way. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { GroupAction, ProjectAction } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import { refused } from '../../platform/errors.ts';
import { findGroup, findGroupFor } from '../../identity/groups/find.ts';
import { selectAncestors, selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { findProjectFor } from '../projects/find.ts';
import { projectTurn } from '../projects/lock_project.ts';

export type OwnerKind = 'projects' | 'groups';

export type Owner = {
  kind: OwnerKind;
  id: number;
  /** The first namespace whose groups count: the project's namespace, or the group itself. */
  namespace_id: number;
};

export const projectOwner = ({ id, namespace_id }: { id: number; namespace_id: number }): Owner => ({
  kind: 'projects',
  id,
  namespace_id,
});

export const groupOwner = ({ id }: { id: number }): Owner => ({ kind: 'groups', id, namespace_id: id });

/** The action to authorize; null for groups: visibility is enough. */
export type OwnerAction = { projects: ProjectAction; groups: GroupAction | null };

/** Loads a project or group and authorizes the action. @throws Failure 404 for a hidden one, 403 without the right */
export const findOwner = async (
  call: Call,
  kind: OwnerKind,
  id: number | string,
  action: OwnerAction,
): Promise<Owner> => {
  if (kind === 'projects') return projectOwner(await findProjectFor(call, id, action.projects));
  const { groups } = action;
  return groupOwner(groups === null ? await findGroup(call, id) : await findGroupFor(call, id, groups));
};

/**
 * Loads the group of a project, to move a label or milestone of the project into it, and authorizes the action.
 * @throws Failure 400 for a personal project, 403 without the right
 */
export const findGroupAbove = async (call: Call, project: Owner, action: GroupAction): Promise<Owner> => {
  const { kind } = await call.db
    .selectFrom('namespaces')
    .select('kind')
    .where('id', '=', project.namespace_id)
    .executeTakeFirstOrThrow();
  if (kind !== 'group') throw refused('The project does not belong to a group');
  return groupOwner(await findGroupFor(call, project.namespace_id, action));
};

/** Subquery: projects below a group. */
export const selectProjectsBelow = (group: Owner): RawBuilder<number> =>
  sql<number>`(select id from projects where namespace_id in ${selectDescendants(group.namespace_id)})`;

/** Returns the turn of transactions that lock the owner's row (`Write`). */
export const ownerTurn = ({ kind, id }: Owner): string =>
  kind === 'projects' ? projectTurn(id) : `group ${id}`;

/** Returns the two columns that reference the owner. */
export const ownerColumns = ({ kind, id }: Owner): { project_id: number | null; group_id: number | null } =>
  kind === 'projects' ? { project_id: id, group_id: null } : { project_id: null, group_id: id };

/** Over `labels` or `milestones`: the owner's own rows. */
export const ownedBy = (table: 'labels' | 'milestones', { kind, id }: Owner): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(`${table}.${kind === 'projects' ? 'project_id' : 'group_id'}`)} = ${id}`;

/** Like `ownedBy`, including the rows of parent groups. */
export const availableTo = (table: 'labels' | 'milestones', owner: Owner): RawBuilder<boolean> => {
  const above = sql<boolean>`${sql.ref(`${table}.group_id`)} in ${selectAncestors(owner.namespace_id)}`;
  return owner.kind === 'groups' ? above : sql<boolean>`(${ownedBy(table, owner)} or ${above})`;
};

/** Over ids of projects: the owner, or all projects below its group. */
const isReached = (column: string, owner: Owner): RawBuilder<boolean> =>
  owner.kind === 'projects'
    ? sql<boolean>`${sql.ref(column)} = ${owner.id}`
    : sql<boolean>`${sql.ref(column)} in ${selectProjectsBelow(owner)}`;

/** Serializes transactions that compare titles in the owner's project, or in the projects below its group. */
export const lockTitles = async (tx: Tx, owner: Owner): Promise<void> => {
  await sql`select id from projects where ${isReached('id', owner)} order by id ${tx.dialect.forUpdate}`.execute(
    tx.db,
  );
};

/**
 * Invalidates cached lists of issues and merge requests in the owner's project, or in all projects below its group.
 * Locks their counters, so call it last, as everywhere.
 */
export const renewLists = async (tx: Tx, owner: Owner): Promise<void> => {
  const { rows } = await sql<{ project_id: number }>`select project_id from project_counters
    where ${isReached('project_id', owner)} order by project_id ${tx.dialect.forUpdate}`.execute(tx.db);
  const ids = rows.map(({ project_id }) => project_id);
  await sql`update project_counters set issues_version = issues_version + 1,
    merge_requests_version = merge_requests_version + 1
    where ${tx.dialect.oneOf('project_id', ids)}`.execute(tx.db);
};
