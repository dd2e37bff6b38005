/** Reads and writes all tables of a PostgreSQL schema, from one snapshot or in one transaction. */
import pg from 'pg';
import { getConnectTimeout } from '../postgres/connect_timeout.ts';
import { numberTypes } from '../postgres/number_types.ts';
import { type Row, type Table, type TableReader, type TableWriter, makeBatches } from './table_reader.ts';

export type PostgresPlace = { url: string; schema: string };

const quote = pg.escapeIdentifier;
const fetchedRows = 500;

const connect = async ({ url, schema }: PostgresPlace): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    types: numberTypes,
    options: `-c search_path=${schema},public -c statement_timeout=0 -c idle_in_transaction_session_timeout=0`,
    connectionTimeoutMillis: getConnectTimeout(url),
    application_name: 'gantry transfer',
  });
  client.on('error', () => undefined); // the running statement reports it, too
  await client.connect();
  return client;
};

const listTables = async (client: pg.Client): Promise<Table[]> => {
  const { rows } = await client.query<Table>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    group by c.relname order by c.relname collate "C"`);
  return rows;
};

type SequenceName = { table: string; sequence: string };

const listSequences = async (client: pg.Client): Promise<SequenceName[]> => {
  const { rows } = await client.query<SequenceName>(`
    select c.relname as table, pg_get_serial_sequence(quote_ident(c.relname), a.attname) as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by c.relname`);
  return rows;
};

const readBatches = async function* readBatches(
  client: pg.Client,
  { name, columns }: Table,
): AsyncGenerator<readonly Row[]> {
  await client.query(
    `declare copied no scroll cursor for select ${columns.map(quote).join(', ')} from ${quote(name)}`,
  );
  for (;;) {
    const { rows } = await client.query<unknown[]>({
      text: `fetch ${fetchedRows} from copied`,
      rowMode: 'array',
    });
    if (rows.length === 0) break;
    yield* makeBatches(rows as Row[]);
  }
  await client.query('close copied');
};

const makeReader = (client: pg.Client): TableReader => ({
  tables: async () => await listTables(client),
  countRows: async ({ name }) => {
    const { rows } = await client.query<{ count: number }>(`select count(*) as count from ${quote(name)}`);
    return rows[0]?.count ?? 0;
  },
  rows: (table) => readBatches(client, table),
  sequences: async () => {
    const sequences = [];
    for (const { table, sequence } of await listSequences(client)) {
      const { rows } = await client.query<{ last: number; is_called: boolean }>(
        `select last_value as last, is_called from ${sequence}`,
      );
      if (rows[0]?.is_called === true) sequences.push({ table, last: rows[0].last });
    }
    return sequences;
  },
});

/** Opens a schema and reads all of it from one snapshot, while others write. */
export const openPostgresReader = async (
  place: PostgresPlace,
): Promise<TableReader & { close: () => Promise<void> }> => {
  const client = await connect(place);
  await client.query('begin isolation level repeatable read read only');
  // The first query takes the snapshot.
  await client.query('select 1 from pg_class limit 1');
  return { ...makeReader(client), close: async () => await client.end() };
};

type Constraint = { table: string; name: string; definition: string };

const dropForeignKeys = async (client: pg.Client): Promise<Constraint[]> => {
  const { rows } = await client.query<Constraint>(`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`);
  for (const { table, name } of rows)
    await client.query(`alter table ${table} drop constraint ${quote(name)}`);
  return rows;
};

const switchTriggers = async (
  client: pg.Client,
  tables: readonly Table[],
  verb: 'disable' | 'enable',
): Promise<void> => {
  for (const { name } of tables) await client.query(`alter table ${quote(name)} ${verb} trigger user`);
};

/** Converts a row to an object whose bytes are in PostgreSQL's notation. */
const toRecord = (columns: readonly string[], row: Row): object =>
  Object.fromEntries(
    columns.map((column, at) => {
      const value = row[at];
      return [column, value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value];
    }),
  );

/** Opens a schema of this version, and empties its tables in a transaction. */
export const openPostgresWriter = async (
  place: PostgresPlace,
): Promise<TableWriter & { close: () => Promise<void> }> => {
  const client = await connect(place);
  await client.query('begin');
  const tables = await listTables(client);
  const constraints = await dropForeignKeys(client);
  await switchTriggers(client, tables, 'disable');
  await client.query(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`);
  return {
    ...makeReader(client),
    insert: async ({ name, columns }, rows) => {
      const names = columns.map(quote).join(', ');
      await client.query(
        `insert into ${quote(name)} (${names}) select ${names} from json_populate_recordset(null::${quote(name)}, $1::json)`,
        [JSON.stringify(rows.map((row) => toRecord(columns, row)))],
      );
    },
    setSequences: async (sequences) => {
      const last = new Map(sequences.map((one) => [one.table, one.last]));
      for (const { table, sequence } of await listSequences(client)) {
        const value = last.get(table);
        if (value !== undefined) await client.query('select setval($1, $2)', [sequence, value]);
      }
    },
    commit: async () => {
      for (const { table, name, definition } of constraints)
        await client.query(`alter table ${table} add constraint ${quote(name)} ${definition}`);
      await switchTriggers(client, tables, 'enable');
      await client.query('commit');
      // Not all tables of the database, because an index build may lock others for a long time.
      await client.query(`analyze ${tables.map(({ name }) => quote(name)).join(', ')}`);
    },
    rollback: async () => void (await client.query('rollback')),
    close: async () => await client.end(),
  };
};
