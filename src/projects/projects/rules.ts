/** Rules for the name, path and visibility of projects. Messages are GitLab's. */
import type { Tx } from '../../platform/db/open.ts';
import type { Visibility } from '../../platform/db/schema/column_types.ts';
import { isWider } from '../../identity/groups/rules.ts';
import { type Namespace, isPathTaken, maxFullPathLength } from '../../identity/namespaces/claim_path.ts';
import { projectNameProblem } from '../../identity/namespaces/name_rules.ts';
import { projectPathProblem } from '../../identity/namespaces/path_rules.ts';
import { normalizeText } from '../../platform/unicode.ts';

const taken = 'has already been taken';

/** The attributes of a project after the change. */
export type Proposal = {
  /** null: a new project. */
  id: number | null;
  namespace: Namespace;
  name: string;
  path: string;
  visibility: Visibility;
};

/** Derives a path from a name: `My Prøject!` becomes `my-pr-ject`; accents are dropped. */
export const pathFromName = (name: string): string =>
  normalizeText(name, 'NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase();

export const nameProblem = async (tx: Tx, { id, namespace, name }: Proposal): Promise<string | null> => {
  const problem = projectNameProblem(name);
  if (problem !== null) return problem;
  const sameName = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', namespace.id)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id ?? 0)
    .executeTakeFirst();
  return sameName === undefined ? null : taken;
};

export const pathProblem = async (tx: Tx, { id, namespace, path }: Proposal): Promise<string | null> => {
  const problem = projectPathProblem(path);
  if (problem !== null) return problem;
  const fullPath = `${namespace.full_path}/${path}`;
  if (fullPath.length > maxFullPathLength) return `is too long (maximum is ${maxFullPathLength} characters)`;
  return (await isPathTaken(tx, fullPath, ['Project', id ?? 0])) ? taken : null;
};

/** Returns the visibility in a namespace: never wider than the group's. */
export const visibilityIn = (
  { kind, visibility: widest }: Pick<Namespace, 'kind' | 'visibility'>,
  visibility: Visibility,
): Visibility => (kind === 'group' && isWider(visibility, widest) ? widest : visibility);

export const visibilityProblem = ({ namespace, visibility }: Proposal): string | null => {
  if (namespace.kind === 'user' || !isWider(visibility, namespace.visibility)) return null;
  return `${visibility} is not allowed in a ${namespace.visibility} group.`;
};

/** GitLab's message for a reached limit of personal projects. */
export const limitText = (limit: number): string =>
  limit === 0
    ? 'Personal project creation is not allowed. Please contact your administrator with questions'
    : `Your project limit is ${limit} projects! Please contact your administrator to increase it`;
