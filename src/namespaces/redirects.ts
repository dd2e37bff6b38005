/** Paths that projects and namespaces had: they lead on to them, until somebody else takes them. */
import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { SourceType } from '../db/schema.ts';

type Asked = { path: string; type: SourceType };

const byOldPath = compiled((db, { path, type }: Asked) =>
  db
    .selectFrom('redirect_routes')
    .select('source_id')
    .where('path', '=', path)
    .where('source_type', '=', type)
    .compile(),
);

/** Whose path this once was, in any case; null: nobody's, or another has it now. */
export const idByOldPath = async (db: Reader, type: SourceType, path: string): Promise<number | null> => {
  const [found] = await byOldPath(db, { path: path.toLowerCase(), type });
  return found?.source_id ?? null;
};

/** The namespace of this id; or of this full path, in any case, that it has or had before. For a condition. */
export const namespaceIdOf = (id: number | string): RawBuilder<number | null> => {
  if (typeof id === 'number') return sql`${id}`;
  const path = id.toLowerCase();
  const of = (table: 'routes' | 'redirect_routes') =>
    sql`(select source_id from ${sql.table(table)} where path = ${path} and source_type = 'Namespace')`;
  return sql`coalesce(${of('routes')}, ${of('redirect_routes')})`;
};

/** Remembers the paths of these rows of `routes`, which are about to change. */
export const keepOldPaths = async (tx: Tx, these: RawBuilder<boolean>): Promise<void> => {
  await sql`insert into redirect_routes (path, source_type, source_id)
    select path, source_type, source_id from routes where ${these}
    on conflict (path) do update set source_type = excluded.source_type, source_id = excluded.source_id`.execute(
    tx.db,
  );
};

/** A path that is taken leads nowhere else any more, nor does what was below it. */
export const endRedirects = async (tx: Tx, takenPath: string): Promise<void> => {
  const path = takenPath.toLowerCase();
  // `0` is the character after `/`.
  await sql`delete from redirect_routes
    where path = ${path} or (path >= ${`${path}/`} and path < ${`${path}0`})`.execute(tx.db);
};
