/** Databases of earlier versions: the schema of an earlier migration, with rows in every table. */
import { sql } from 'kysely';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { migrationTexts } from '../../../src/platform/db/migrations/list.ts';
import type { Store, Tx } from '../../../src/platform/db/open.ts';

type Column = { name: string; type: string; isRequired: boolean; isKey: boolean };
type Reference = { column: string; table: string; target: string };
type Table = { name: string; columns: Column[]; references: Reference[] };

/** Tables that are filled by triggers or by the migrations themselves, or that decide whether a database is used. */
const skipped =
  /^(?:migrations|instance|sqlite_|.*_index(?:_|$)|project_counters|label_counts|work$|backups$)/;

const describeSqlite = async ({ db }: Tx): Promise<Table[]> => {
  const { rows } = await sql<{ name: string }>`select name from sqlite_schema
    where type = 'table' and sql not like 'create virtual%' order by name`.execute(db);
  const tables: Table[] = [];
  for (const { name } of rows.filter((row) => !skipped.test(row.name))) {
    const columns = await sql<{
      name: string;
      type: string;
      notnull: number;
      pk: number;
      dflt_value: unknown;
    }>`
      select * from pragma_table_info(${name})`.execute(db);
    const references = await sql<{ from: string; table: string; to: string | null }>`
      select * from pragma_foreign_key_list(${name})`.execute(db);
    tables.push({
      name,
      columns: columns.rows.map((column) => ({
        name: column.name,
        type: column.type.toLowerCase(),
        isRequired: column.notnull === 1 && column.dflt_value === null,
        isKey: column.pk > 0,
      })),
      references: references.rows.map((row) => ({
        column: row.from,
        table: row.table,
        target: row.to ?? 'id',
      })),
    });
  }
  return tables;
};

const describePostgres = async ({ db }: Tx): Promise<Table[]> => {
  const columns = await sql<{
    table: string;
    name: string;
    type: string;
    required: boolean;
    key: boolean;
  }>`select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type,
      a.attnotnull and not a.atthasdef and a.attidentity = '' as required,
      exists (select 1 from pg_constraint p where p.conrelid = c.oid and p.contype = 'p' and a.attnum = any(p.conkey))
        as key
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by c.relname, a.attnum`.execute(
    db,
  );
  const references = await sql<{ table: string; column: string; other: string; target: string }>`
    select c.conrelid::regclass::text as table, a.attname as column, c.confrelid::regclass::text as other,
      t.attname as target
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    join pg_attribute t on t.attrelid = c.confrelid and t.attnum = c.confkey[1]
    where c.contype = 'f' and c.connamespace = current_schema()::regnamespace`.execute(db);
  return [...Map.groupBy(columns.rows, ({ table }) => table)]
    .filter(([name]) => !skipped.test(name))
    .map(([name, own]) => ({
      name,
      columns: own.map(({ name: column, type, required, key }) => ({
        name: column,
        type: type === 'bigint' || type === 'integer' ? 'integer' : type,
        isRequired: required,
        isKey: key,
      })),
      references: references.rows
        .filter(({ table }) => table === name)
        .map(({ column, other, target }) => ({ column, table: other, target })),
    }));
};

/** Nullable columns that a table needs one of. */
const needed: { [table: string]: string } = {
  badges: 'project_id',
  boards: 'project_id',
  board_lists: 'label_id',
  deploy_tokens: 'project_id',
  labels: 'project_id',
  milestones: 'project_id',
};

/** Orders tables so that each comes after those that it must refer to. */
const order = (tables: readonly Table[]): Table[] => {
  const ordered: Table[] = [];
  const required = ({ columns, references, name }: Table): string[] => {
    const must = new Set(columns.filter((one) => one.isRequired || one.isKey).map((one) => one.name));
    return references
      .filter(({ column, table }) => table !== name && (must.has(column) || column === needed[name]))
      .map(({ table }) => table);
  };
  let left = [...tables];
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const next = left.filter((table) => !required(table).some((name) => names.has(name)));
    if (next.length === 0) throw new Error(`tables refer to each other: ${[...names].join()}`);
    ordered.push(...next);
    left = left.filter((table) => !next.includes(table));
  }
  return ordered;
};

/** Values that a check or a migration asks for, by table and column. */
const values: { [column: string]: string | number } = {
  'namespaces.kind': 'user',
  'users.username': 'u1',
  'users.email': 'u1@example.com',
  'projects.visibility': 'private',
  'projects.full_path': 'x/x',
  'routes.source_type': 'Project',
  'issues.state': 'opened',
  'merge_requests.state': 'opened',
};

const valueOf = (table: Table, { name, type }: Column): string | number | Buffer => {
  const fixed = values[`${table.name}.${name}`];
  if (fixed !== undefined) return fixed;
  if (table.references.some(({ column }) => column === name)) return 1;
  if (/target_type|subject_type/.test(name)) return 'Issue';
  if (name === 'source_type') return 'Project';
  if (type === 'blob' || type === 'bytea') return Buffer.from('x');
  if (/^(?:data|payload|events|snapshot|scopes|config|value|details|properties)$/.test(name)) return '{}';
  return type === 'text' ? 'x' : 1;
};

/** Inserts a row into each table that does not have it. */
export const fillTables = async (tx: Tx): Promise<void> => {
  const tables = order(await (tx.dialect.engine === 'sqlite' ? describeSqlite(tx) : describePostgres(tx)));
  for (const table of tables) {
    const columns = table.columns.filter(
      ({ name, isRequired, isKey }) =>
        isRequired || name === 'id' || (isKey && name !== 'id') || name === needed[table.name],
    );
    const isIdentity = (name: string): boolean => name === 'id';
    const set = columns.filter(({ name }) => !isIdentity(name));
    const names = sql.join(set.map(({ name }) => sql.ref(name)));
    const row = sql.join(set.map((column) => sql`${valueOf(table, column)}`));
    await sql`insert into ${sql.table(table.name)} (${names}) values (${row}) on conflict do nothing`
      .execute(tx.db)
      .catch((error: unknown) => {
        throw new Error(`${table.name}: ${(error as Error).message}`, { cause: error });
      });
  }
};

/**
 * Gives an empty store the schema before a migration, with one row in each table.
 * @param before the first migration that it lacks, or a part of its name
 */
export const fillOlderSchema = async (store: Store, before: string): Promise<void> => {
  await migrate(
    store,
    migrationTexts.filter(({ name }) => name < before),
  );
  await store.write(fillTables);
};

/** Counts the rows of each table that this module fills. */
export const countOlderRows = async (store: Store): Promise<Map<string, number>> =>
  await store.write(async (tx) => {
    const tables = await (tx.dialect.engine === 'sqlite' ? describeSqlite(tx) : describePostgres(tx));
    const counts = new Map<string, number>();
    for (const { name } of tables) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(
        tx.db,
      );
      counts.set(name, Number(rows[0]?.count));
    }
    return counts;
  });
