/** Notes the tables that a piece of work reads, so that its result can be kept until one of them changes. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** null if the work read something that has no table. */
type ReadTables = { tables: Set<string> | null };

const current = new AsyncLocalStorage<ReadTables>();

/** Called with the tables of each statement, and of each kept value that saves one. */
export const noteReadTables = (tables: readonly string[] | null): void => {
  const noted = current.getStore();
  if (noted === undefined || noted.tables === null) return;
  if (tables === null) noted.tables = null;
  else for (const table of tables) noted.tables.add(table);
};

/** Runs work and returns the tables that it read; null if they are not known. */
export const collectReadTables = async <V>(
  work: () => Promise<V>,
): Promise<{ value: V; tables: readonly string[] | null }> => {
  const noted: ReadTables = { tables: new Set() };
  const value = await current.run(noted, work);
  const tables = noted.tables && [...noted.tables];
  // Work around this one read the same.
  noteReadTables(tables);
  return { value, tables };
};

/** Runs work whose reads the caller notes itself. */
export const withoutNoting = async <V>(work: () => Promise<V>): Promise<V> =>
  await current.run({ tables: null }, work);
