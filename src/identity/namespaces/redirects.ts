/** Former paths of projects and namespaces. They redirect to the current path until another one takes them. */
import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';

type OldPathQuery = { path: string; type: SourceType };

const byOldPath = compiled((db, { path, type }: OldPathQuery) =>
  db
    .selectFrom('redirect_routes')
    .select('source_id')
    .where('path', '=', path)
    .where('source_type', '=', type)
    .compile(),
);

/**
 * Returns the id of the project or namespace that once had this path, in any case; null: none, or the path is in use.
 */
export const findIdByOldPath = async (db: Reader, type: SourceType, path: string): Promise<number | null> => {
  const [redirect] = await byOldPath(db, { path: path.toLowerCase(), type });
  return redirect?.source_id ?? null;
};

/** Condition value: the id of a namespace by id, or by its current or a former full path in any case. */
export const selectNamespaceId = (id: number | string): RawBuilder<number | null> => {
  if (typeof id === 'number') return sql`${id}`;
  const path = id.toLowerCase();
  const selectFrom = (table: 'routes' | 'redirect_routes') =>
    sql`(select source_id from ${sql.table(table)} where path = ${path} and source_type = 'Namespace')`;
  return sql`coalesce(${selectFrom('routes')}, ${selectFrom('redirect_routes')})`;
};

/** Records the paths of these rows of `routes` before they change. */
export const keepOldPaths = async (tx: Tx, these: RawBuilder<boolean>): Promise<void> => {
  await sql`insert into redirect_routes (path, source_type, source_id)
    select path, source_type, source_id from routes where ${these}
    on conflict (path) do update set source_type = excluded.source_type, source_id = excluded.source_id`.execute(
    tx.db,
  );
};

/** Deletes the redirects of a taken path, and the redirects below it. */
export const endRedirects = async (tx: Tx, takenPath: string): Promise<void> => {
  const path = takenPath.toLowerCase();
  // `0` is the character after `/`.
  await sql`delete from redirect_routes
    where path = ${path} or (path >= ${`${path}/`} and path < ${`${path}0`})`.execute(tx.db);
};
