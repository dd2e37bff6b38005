import { Kysely, SqliteAdapter, SqliteIntrospector, sql, type RawBuilder } from 'kysely';
import { StartFailure } from '../../errors.ts';
import { mapValue } from '../compiled_query.ts';
import { sqliteDdl } from '../ddl_keywords.ts';
import type { EngineParts, OpenOptions } from '../engine.ts';
import { processName } from '../process_name.ts';
import type { Schema } from '../schema/database.ts';
import { InliningCompiler } from './compiler.ts';
import { SqliteDriver } from './driver.ts';
import { openLogSync } from './log_sync.ts';
import { isBusy, isForeignKey, isFull, isUnique } from './errors.ts';
import { openBesideWriter, openReadOnly, openToWrite } from './open_file.ts';

/** 3.51.3 fixes a bug that could corrupt databases in WAL mode. */
export const oldestSqlite = '3.51.3';

/** Reports several connections: Kysely serializes all use of a single one, which would prevent group commit. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const isOlder = (version: string, than: string): boolean =>
  version.localeCompare(than, undefined, { numeric: true }) < 0;

export const openEngine = (options: OpenOptions): EngineParts => {
  const { sqlite } = process.versions;
  if (sqlite === undefined || isOlder(sqlite, oldestSqlite)) {
    throw new StartFailure(`SQLite ${oldestSqlite} or newer is needed; this Node carries ${sqlite}`);
  }
  const { file, readOnly = false } = options;
  const writer = readOnly ? null : { database: openToWrite(file), log: openLogSync(file) };
  const reader = readOnly ? openReadOnly(file) : openBesideWriter(file);
  const driver = new SqliteDriver(reader, writer, options.onFatal);
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SharedAdapter(),
      createDriver: () => driver,
      createIntrospector: (any) => new SqliteIntrospector(any),
      createQueryCompiler: () => new InliningCompiler(),
    },
  });
  const close = async (): Promise<void> => {
    await db.destroy();
    await driver.destroy(); // the query builder only ends a driver that it has used
  };
  return {
    db,
    querySync: driver.querySync,
    readTables: (text) => driver.readTables(text),
    ...(driver.versions && {
      tableVersion: (tables, isInside) => driver.versions?.read(tables, isInside) ?? null,
    }),
    relax: async (transaction) =>
      await transaction.getExecutor().provideConnection(async (connection) => driver.relax(connection)),
    ddl: sqliteDdl,
    dialect,
    // The database belongs to one process.
    notifyProcesses: async () => undefined,
    listenToProcesses: async () => async () => undefined,
    runExclusively: async (_name, work) => await work(),
    takePlace: async () => () => undefined,
    close,
  };
};

/** SQLite locks the whole database, so rows need no locks. */
const dialect: EngineParts['dialect'] = {
  engine: 'sqlite',
  oneOf: (column, values): RawBuilder<boolean> =>
    sql`${sql.ref(column)} in (select value from json_each(${mapValue(values, JSON.stringify)}))`,
  eachOf: (rows) => sql`json_each(${mapValue(rows, JSON.stringify)})`,
  indexedBy: (index) => sql`indexed by ${sql.id(index)}`,
  jsonRows: (values, order) => sql`json_group_array(json_array(${sql.join(values)}) order by ${order})`,
  // Increases on the read handle with each commit of the writer.
  state: sql`select cast(data_version as text) as state from pragma_data_version`,
  facts: sql`select sqlite_version() as version, page_count * page_size as size
    from pragma_page_count, pragma_page_size`,
  // Only one process at a time uses a database file.
  lives: (column) => sql<boolean>`${sql.ref(column)} = ${processName}`,
  forUpdate: sql``,
  forHold: sql``,
  forExclusive: sql``,
  skipLocked: sql``,
};

export const isUniqueViolation = isUnique;
export const isForeignKeyViolation = isForeignKey;
export const isStoreFull = isFull;
export const isUnreachable = isBusy;
export const isConflict = (_error: unknown): boolean => false;
export const isLockTimeout = (_error: unknown): boolean => false;
