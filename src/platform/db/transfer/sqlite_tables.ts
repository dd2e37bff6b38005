/** Reads and writes all tables of a SQLite file that no other process uses. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setImmediate as otherWork } from 'node:timers/promises';
import { StartFailure } from '../../errors.ts';
import {
  type Row,
  type Sequence,
  type Table,
  type TableReader,
  type TableWriter,
  makeBatches,
} from './table_reader.ts';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const selectRows = ({ name, columns }: Table): string =>
  `select ${columns.map(quote).join(', ')} from ${quote(name)}`;

/** Tables except search indexes, which are filled from the other tables. */
const listTables = (database: DatabaseSync): Table[] => {
  const names = database
    .prepare(
      `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'
      order by name`,
    )
    .all() as { name: string }[];
  return names.map(({ name }) => ({
    name,
    columns: (
      database.prepare('select name from pragma_table_info(?) order by cid').all(name) as { name: string }[]
    ).map((column) => column.name),
  }));
};

const makeReader = (database: DatabaseSync): TableReader => ({
  tables: async () => listTables(database),
  countRows: async ({ name }) =>
    (database.prepare(`select count(*) as count from ${quote(name)}`).get() as { count: number }).count,
  rows: async function* rows(table) {
    const statement = database.prepare(selectRows(table));
    statement.setReturnArrays(true);
    for (const batch of makeBatches(statement.iterate() as Iterable<unknown> as Iterable<Row>)) {
      yield batch;
      await otherWork();
    }
  },
  sequences: async () =>
    database.prepare('select name as "table", seq as last from sqlite_sequence').all() as Sequence[],
});

/** Opens a file to read its tables. */
export const openSqliteReader = (file: string): TableReader & { close: () => void } => {
  const database = new DatabaseSync(file, { readOnly: true });
  return { ...makeReader(database), close: () => database.close() };
};

/** The trigger that fills the index of code. It runs during the copy; nothing else would fill that index. */
const keptTrigger = 'code_files_inserted';

type Trigger = { name: string; sql: string };

const dropTriggers = (database: DatabaseSync): Trigger[] => {
  const triggers = database
    .prepare("select name, sql from sqlite_schema where type = 'trigger' and name <> ?")
    .all(keptTrigger) as Trigger[];
  for (const { name } of triggers) database.exec(`drop trigger ${quote(name)}`);
  return triggers;
};

const setSequences = (database: DatabaseSync, sequences: readonly Sequence[]): void => {
  database.exec('delete from sqlite_sequence');
  const insert = database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)');
  for (const { table, last } of sequences) insert.run(table, last);
};

const commit = (database: DatabaseSync, triggers: readonly Trigger[]): void => {
  for (const { sql } of triggers) database.exec(sql);
  const [stray] = database.prepare('pragma foreign_key_check').all();
  if (stray !== undefined)
    throw new StartFailure(
      `a row of ${String(stray['table'])} refers to a missing row of ${String(stray['parent'])}`,
    );
  database.exec('commit');
  database.exec('pragma wal_checkpoint(truncate)');
};

/** Opens a file that has the schema of this version, and empties its tables in a transaction. */
export const openSqliteWriter = (file: string): TableWriter & { close: () => void } => {
  const database = new DatabaseSync(file);
  for (const pragma of [
    'journal_mode = wal',
    'synchronous = full',
    'foreign_keys = off',
    'cache_size = -32000',
  ])
    database.exec(`pragma ${pragma}`);
  database.exec('begin immediate');
  const triggers = dropTriggers(database);
  for (const { name } of listTables(database)) database.exec(`delete from ${quote(name)}`);
  return {
    ...makeReader(database),
    insert: async ({ name, columns }, rows) => {
      const values = columns.map(() => '?').join(', ');
      const insert = database.prepare(
        `insert into ${quote(name)} (${columns.map(quote).join(', ')}) values (${values})`,
      );
      for (const row of rows) insert.run(...(row as SQLInputValue[]));
    },
    setSequences: async (sequences) => setSequences(database, sequences),
    commit: async () => commit(database, triggers),
    rollback: async () => database.exec('rollback'),
    close: () => database.close(),
  };
};
