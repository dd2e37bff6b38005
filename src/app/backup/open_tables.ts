/** Opens the tables of a configured database for copying. */
import type { Config } from '../../platform/config/fields.ts';
import { openSqliteReader, openSqliteWriter } from '../../platform/db/transfer/sqlite_tables.ts';
import type { TableReader, TableWriter } from '../../platform/db/transfer/table_reader.ts';
import { databaseFile } from '../service/open_database.ts';

/** The settings that name a database. */
export type DatabasePlace = Pick<
  Config,
  'data' | 'database_url' | 'database_schema' | 'database_connections'
>;

export type Closing = { close: () => void | Promise<void> };

export const openReader = async ({
  database_url: url,
  database_schema: schema,
  data,
}: DatabasePlace): Promise<TableReader & Closing> => {
  if (url === null) return openSqliteReader(databaseFile({ data }));
  const { openPostgresReader } = await import('../../platform/db/transfer/postgres_tables.ts');
  return await openPostgresReader({ url, schema });
};

export const openWriter = async (
  { database_url: url, database_schema: schema }: DatabasePlace,
  file: string,
): Promise<TableWriter & Closing> => {
  if (url === null) return openSqliteWriter(file);
  const { openPostgresWriter } = await import('../../platform/db/transfer/postgres_tables.ts');
  return await openPostgresWriter({ url, schema });
};
