/** Rules for the name, path, visibility and nesting of groups. Messages are GitLab's. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';
import { isPathTaken, maxFullPathLength } from '../namespaces/claim_path.ts';
import { groupNameProblem } from '../namespaces/name_rules.ts';
import { pathProblem } from '../namespaces/path_rules.ts';
import type { Group } from './find.ts';

/** Maximum number of groups above a group. */
const maxAncestors = 20;
const taken = 'has already been taken';

export const visibilities: readonly Visibility[] = ['private', 'internal', 'public'];

/** Returns whether a visibility admits more people than another. */
export const isWider = (visibility: Visibility, than: Visibility): boolean =>
  visibilities.indexOf(visibility) > visibilities.indexOf(than);

export const fullPathIn = (parent: { full_path: string } | null, path: string): string =>
  parent === null ? path : `${parent.full_path}/${path}`;

/** The attributes of a group after the change. */
export type Proposal = {
  /** null: a new group. */
  id: number | null;
  parent: Group | null;
  name: string;
  path: string;
  visibility: Visibility;
};

export const nameProblem = async (tx: Tx, { id, parent, name }: Proposal): Promise<string | null> => {
  const problem = groupNameProblem(name);
  if (problem !== null || parent === null) return problem;
  const sameName = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('parent_id', '=', parent.id)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id ?? 0)
    .executeTakeFirst();
  return sameName === undefined ? null : taken;
};

/** Returns the length of the longest full path in a group's tree. */
const findLongestPathBelow = async (tx: Tx, id: number): Promise<number> => {
  const { rows } = await sql<{ longest: number }>`select max(longest) as longest from (
    select max(length(full_path)) as longest from namespaces where id in ${selectDescendants(id)}
    union all
    select max(length(full_path)) from projects where deleted_at is null and namespace_id in ${selectDescendants(id)}
  ) as paths`.execute(tx.db);
  return rows[0]?.longest ?? 0;
};

export const groupPathProblem = async (
  tx: Tx,
  { id, parent, path }: Proposal,
  oldFullPath: string,
): Promise<string | null> => {
  const problem = pathProblem(path, parent === null ? 'top' : 'nested');
  if (problem !== null) return problem;
  const fullPath = fullPathIn(parent, path);
  const below = id === null ? 0 : (await findLongestPathBelow(tx, id)) - oldFullPath.length;
  if (fullPath.length + below > maxFullPathLength)
    return `is too long (maximum is ${maxFullPathLength} characters)`;
  return (await isPathTaken(tx, fullPath, ['Namespace', id ?? 0])) ? taken : null;
};

/** Returns the visibility error of a group: wider than its parent or narrower than what it contains; null: none. */
export const visibilityProblem = async (
  tx: Tx,
  { id, parent, visibility }: Proposal,
): Promise<string | null> => {
  if (parent !== null && isWider(visibility, parent.visibility)) {
    return `${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`;
  }
  const wider = visibilities.filter((one) => isWider(one, visibility));
  if (id === null || wider.length === 0) return null;
  const project = tx.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', id)
    .where('visibility', 'in', wider)
    .where('deleted_at', 'is', null)
    .limit(1);
  if ((await project.executeTakeFirst()) !== undefined) {
    return `${visibility} is not allowed since this group contains projects with higher visibility.`;
  }
  const subgroup = tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('parent_id', '=', id)
    .where('visibility', 'in', wider)
    .where('deleted_at', 'is', null)
    .limit(1);
  if ((await subgroup.executeTakeFirst()) === undefined) return null;
  return `${visibility} is not allowed since there are sub-groups with higher visibility.`;
};

/**
 * Returns the error if a group below `parent` would nest too deep; null: none.
 * @param levelsBelow levels of groups that the group contains
 */
export const nestingProblem = (parent: Group | null, levelsBelow = 0): string | null => {
  const ancestors = parent === null ? 0 : parent.full_path.split('/').length;
  return ancestors + levelsBelow > maxAncestors ? 'has too deep level of nesting' : null;
};
