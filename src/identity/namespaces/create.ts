import type { Tx } from '../../platform/db/open.ts';
import type { SourceType, Visibility } from '../../platform/db/schema/column_types.ts';
import type { Namespace } from './claim_path.ts';
import { endRedirects } from './redirects.ts';

/** Claims a full path for a project or namespace. A path that is taken violates the table's primary key. */
export const claimRoute = async (tx: Tx, path: string, source: [SourceType, number]): Promise<void> => {
  await tx.db
    .insertInto('routes')
    .values({ path: path.toLowerCase(), source_type: source[0], source_id: source[1] })
    .execute();
  await endRedirects(tx, path);
};

/** Returns whether a project or namespace has this full path, in any case. */
export const isRouteTaken = async (tx: Pick<Tx, 'db'>, path: string): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('routes')
    .select('source_id')
    .where('path', '=', path.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
};

/** Columns of a new namespace. Missing columns get their defaults. */
export type NewNamespace = Omit<Partial<Namespace>, 'id'> & {
  kind: 'user' | 'group';
  parent_id: number | null;
  owner_id: number | null;
  path: string;
  full_path: string;
  name: string;
  description: string;
  visibility: Visibility;
};

export const insertNamespace = async (tx: Tx, namespace: NewNamespace): Promise<number> => {
  const { id } = await tx.db
    .insertInto('namespaces')
    .values({ ...namespace, created_at: tx.now, updated_at: tx.now })
    .returning('id')
    .executeTakeFirstOrThrow();
  await claimRoute(tx, namespace.full_path, ['Namespace', id]);
  return id;
};

export const insertPersonalNamespace = async (
  tx: Tx,
  { owner_id, path, name }: { owner_id: number; path: string; name: string },
): Promise<number> =>
  await insertNamespace(tx, {
    kind: 'user',
    parent_id: null,
    owner_id,
    path,
    full_path: path,
    name,
    description: '',
    visibility: 'public',
  });
