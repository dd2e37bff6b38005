/**
 * Statements that create a new SQLite database in one step. The build derives them from the migrations: running more
 * than a hundred migrations takes a third of a first start, these statements a tenth of that.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isBundled, packageRoot } from '../package_files.ts';
import { type MigrationText, sqliteDdl } from './ddl_keywords.ts';
import { plannerStatements } from './sqlite/planner_statistics.ts';

export type NewDatabase = {
  /** Migrations that the statements replace. */
  migrations: string[];
  statements: string[];
};

/** Where the build writes it. */
export const newDatabaseFile = join(packageRoot, 'dist/new_database.json');

const text = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;

/** Tables, then what belongs to them; without the tables that a search index makes itself. */
const schemaQuery = `select sql from sqlite_schema
  where sql is not null and name not like 'sqlite\\_%' escape '\\'
    and name not in (select name from pragma_table_list where type = 'shadow')
  order by type = 'table' desc, type = 'index' desc, rowid`;

/**
 * Runs the migrations in memory and describes the outcome.
 * @throws Error if they leave rows in another table than `instance`, which this does not copy
 */
export const describeNewDatabase = (migrations: readonly MigrationText[]): NewDatabase => {
  const db = new DatabaseSync(':memory:');
  try {
    for (const { statements } of migrations)
      for (const statement of statements(sqliteDdl)) db.exec(statement);
    const all = <Row>(query: string): Row[] => db.prepare(query).all() as Row[];
    const tables = all<{ name: string }>(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'",
    );
    const filled = tables.filter(({ name }) => all(`select 1 from "${name}" limit 1`).length > 0);
    const others = filled.map(({ name }) => name).filter((name) => name !== 'instance');
    if (others.length > 0) throw new Error(`migrations of a new database leave rows in ${others.join(', ')}`);
    const rows = all<{ name: string; value: string }>('select name, value from instance order by name').map(
      ({ name, value }) => `insert into instance (name, value) values (${text(name)}, ${text(value)})`,
    );
    return {
      migrations: migrations.map(({ name }) => name),
      statements: [...all<{ sql: string }>(schemaQuery).map(({ sql }) => sql), ...rows, ...plannerStatements],
    };
  } finally {
    db.close();
  }
};

/** Reads the description that the build made; null: the program runs from its sources. */
export const readNewDatabase = (): NewDatabase | null =>
  isBundled ? (JSON.parse(readFileSync(newDatabaseFile, 'utf8')) as NewDatabase) : null;
