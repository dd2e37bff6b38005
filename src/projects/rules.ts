/** What a project may be called and who may see it. Texts are GitLab's. */
import type { Tx } from '../db/open.ts';
import type { Visibility } from '../db/schema.ts';
import { isWider } from '../groups/rules.ts';
import { type Namespace, isPathTaken, longestFullPath } from '../namespaces/claim.ts';
import { projectNameProblem } from '../namespaces/name.ts';
import { projectPathProblem } from '../namespaces/path.ts';
import { normalizeText } from '../unicode.ts';

const taken = 'has already been taken';

/** What a project is about to become. */
export type Proposal = {
  /** null: a new one. */
  id: number | null;
  namespace: Namespace;
  name: string;
  path: string;
  visibility: Visibility;
};

/** A path out of a name: `My Prøject!` becomes `my-pr-ject`; accents go. */
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
  const other = await tx.db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', namespace.id)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id ?? 0)
    .executeTakeFirst();
  return other === undefined ? null : taken;
};

export const pathProblem = async (tx: Tx, { id, namespace, path }: Proposal): Promise<string | null> => {
  const problem = projectPathProblem(path);
  if (problem !== null) return problem;
  const fullPath = `${namespace.full_path}/${path}`;
  if (fullPath.length > longestFullPath) return `is too long (maximum is ${longestFullPath} characters)`;
  return (await isPathTaken(tx, fullPath, ['Project', id ?? 0])) ? taken : null;
};

/** The visibility that a namespace lets a project have: never a wider one than its group's. */
export const visibilityIn = (
  { kind, visibility: widest }: Pick<Namespace, 'kind' | 'visibility'>,
  visibility: Visibility,
): Visibility => (kind === 'group' && isWider(visibility, widest) ? widest : visibility);

export const visibilityProblem = ({ namespace, visibility }: Proposal): string | null => {
  if (namespace.kind === 'user' || !isWider(visibility, namespace.visibility)) return null;
  return `${visibility} is not allowed in a ${namespace.visibility} group.`;
};

/** As GitLab says that a user has as many projects of his own as he may have. */
export const limitText = (limit: number): string =>
  limit === 0
    ? 'Personal project creation is not allowed. Please contact your administrator with questions'
    : `Your project limit is ${limit} projects! Please contact your administrator to increase it`;
