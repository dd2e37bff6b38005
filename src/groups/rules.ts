/** What a group may be called and who may see it. Texts are GitLab's. */
import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { Visibility } from '../db/schema.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';
import { isPathTaken, longestFullPath } from '../namespaces/claim.ts';
import { groupNameProblem } from '../namespaces/name.ts';
import { pathProblem } from '../namespaces/path.ts';
import type { Group } from './find.ts';

/** A group has at most this many groups above it. */
const mostAncestors = 20;
const taken = 'has already been taken';

export const visibilities: readonly Visibility[] = ['private', 'internal', 'public'];

/** Whether more people see the one than the other. */
export const isWider = (visibility: Visibility, than: Visibility): boolean =>
  visibilities.indexOf(visibility) > visibilities.indexOf(than);

export const fullPathIn = (parent: { full_path: string } | null, path: string): string =>
  parent === null ? path : `${parent.full_path}/${path}`;

/** What a group is about to become. */
export type Proposal = {
  /** null: a new one. */
  id: number | null;
  parent: Group | null;
  name: string;
  path: string;
  visibility: Visibility;
};

export const nameProblem = async (tx: Tx, { id, parent, name }: Proposal): Promise<string | null> => {
  const problem = groupNameProblem(name);
  if (problem !== null || parent === null) return problem;
  const other = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('parent_id', '=', parent.id)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id ?? 0)
    .executeTakeFirst();
  return other === undefined ? null : taken;
};

/** Characters of the longest full path in a group's tree. */
const longestBelow = async (tx: Tx, id: number): Promise<number> => {
  const { rows } = await sql<{ longest: number }>`select max(longest) as longest from (
    select max(length(full_path)) as longest from namespaces where id in ${descendantsOf(id)}
    union all
    select max(length(full_path)) from projects where deleted_at is null and namespace_id in ${descendantsOf(id)}
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
  const below = id === null ? 0 : (await longestBelow(tx, id)) - oldFullPath.length;
  if (fullPath.length + below > longestFullPath)
    return `is too long (maximum is ${longestFullPath} characters)`;
  return (await isPathTaken(tx, fullPath, ['Namespace', id ?? 0])) ? taken : null;
};

/** Of a new group or one whose visibility changes: not wider than above, not narrower than below. */
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

/** A new group below `parent` would stand too deep. */
export const nestingProblem = (parent: Group | null): string | null => {
  const ancestors = parent === null ? 0 : parent.full_path.split('/').length;
  return ancestors > mostAncestors ? 'has too deep level of nesting' : null;
};
