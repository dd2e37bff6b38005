/**
 * Stores the rows of the database as chunks, each an object of the backup. Chunk boundaries depend on the content, so
 * that a change of some rows changes only their chunks, and a later backup stores only these chunks.
 */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Config } from '../../platform/config/fields.ts';
import { migrate, refuseNewer, selectApplied } from '../../platform/db/migrate.ts';
import { copyTables } from '../../platform/db/transfer/copy_tables.ts';
import { openSqliteReader, openSqliteWriter } from '../../platform/db/transfer/sqlite_tables.ts';
import {
  type Row,
  type Sequence,
  type Table,
  type TableReader,
  type Value,
  makeBatches,
} from '../../platform/db/transfer/table_reader.ts';
import { systemClock } from '../../platform/time.ts';
import { openAnyStore } from '../service/open_database.ts';
import type { Manifest, StoredObject } from './manifest.ts';
import { type BackupReader, openObject } from './places/backup_place.ts';
import { type Storing, addObject } from './save_blobs.ts';

/** A chunk: the digest of its lines, and the object that has them, compressed by zstd. */
type Chunk = StoredObject & { lines: string };

type StoredTable = Table & { rows: number; chunks: Chunk[] };

/** List of the database's chunks; itself an object, compressed with zstd. */
export type StoredDatabase = {
  /** Names of the migrations that it has. */
  migrations: string[];
  sequences: Sequence[];
  tables: StoredTable[];
};

/** Bytes of a chunk. It ends after a row that one in `endingShare` is, or at the limit. */
const chunkBytes = { least: 32 * 1024, most: 1024 * 1024 };
const endingShare = 64;

const encode = (value: Value): unknown =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;

const decode = (value: unknown): Value =>
  typeof value === 'object' && value !== null
    ? Buffer.from((value as { bytes: string }).bytes, 'base64')
    : (value as Value);

const isEnding = (line: string, bytes: number): boolean =>
  bytes >= chunkBytes.most || (bytes >= chunkBytes.least && crc32(line) % endingShare === 0);

/** Yields the rows of a table as texts of some lines, a line for each row. */
const makeChunks = async function* makeChunks(
  reader: TableReader,
  table: Table,
): AsyncGenerator<{ text: string; rows: number }> {
  let lines: string[] = [];
  let bytes = 0;
  for await (const batch of reader.rows(table))
    for (const row of batch) {
      const line = `${JSON.stringify(row.map(encode))}\n`;
      lines.push(line);
      bytes += line.length;
      if (!isEnding(line, bytes)) continue;
      yield { text: lines.join(''), rows: lines.length };
      [lines, bytes] = [[], 0];
    }
  if (lines.length > 0) yield { text: lines.join(''), rows: lines.length };
};

const storeText = async (storing: Storing, text: string): Promise<StoredObject> =>
  await addObject(storing, Readable.from([Buffer.from(text)]).compose(createZstdCompress()));

const loadText = async (place: BackupReader, sha256: string): Promise<string> =>
  (await buffer((await openObject(place, sha256)).compose(createZstdDecompress()))).toString();

/** Loads what a backup has of the database; null: it has a file instead. */
export const loadStoredDatabase = async (
  place: BackupReader,
  manifest: Manifest,
): Promise<StoredDatabase | null> => {
  if (manifest.format === 1) return null;
  return JSON.parse(await loadText(place, manifest.database.sha256)) as StoredDatabase;
};

/** Returns the digests of all chunks. */
export const listChunks = ({ tables }: StoredDatabase): string[] =>
  tables.flatMap(({ chunks }) => chunks.map(({ sha256 }) => sha256));

const readMigrations = async (reader: TableReader): Promise<string[]> => {
  const names: string[] = [];
  for await (const rows of reader.rows({ name: 'migrations', columns: ['name'] }))
    names.push(...rows.map(([name]) => String(name)));
  return names;
};

/**
 * Stores the rows of a SQLite file.
 * @param earlier the backup before: chunks that it has are not stored again, unless they are missing or damaged
 * @returns the object that lists the chunks
 */
export const saveDatabase = async (
  storing: Storing,
  file: string,
  earlier: StoredDatabase | null,
): Promise<StoredObject> => {
  const chunks = (earlier?.tables ?? []).flatMap((table) => table.chunks);
  const usable = chunks.filter(storing.objects.has);
  const savedChunks = new Map(usable.map((chunk) => [chunk.lines, chunk]));
  const reader = openSqliteReader(file);
  try {
    const tables: StoredTable[] = [];
    for (const table of await reader.tables()) {
      const stored: StoredTable = { ...table, rows: 0, chunks: [] };
      for await (const { text, rows } of makeChunks(reader, table)) {
        const lines = hash('sha256', text);
        const chunk = savedChunks.get(lines) ?? { lines, ...(await storeText(storing, text)) };
        stored.chunks.push(chunk);
        stored.rows += rows;
      }
      tables.push(stored);
    }
    const database = {
      migrations: await readMigrations(reader),
      sequences: await reader.sequences(),
      tables,
    };
    return await storeText(storing, JSON.stringify(database));
  } finally {
    reader.close();
  }
};

/** Reads the tables of a backup. */
const makeReader = (place: BackupReader, { tables, sequences }: StoredDatabase): TableReader => ({
  tables: async () => tables.map(({ name, columns }) => ({ name, columns })),
  countRows: async ({ name }) => tables.find((table) => table.name === name)?.rows ?? 0,
  rows: async function* rows({ name }) {
    for (const { sha256 } of tables.find((table) => table.name === name)?.chunks ?? []) {
      const lines = (await loadText(place, sha256)).split('\n').filter(Boolean);
      yield* makeBatches(lines.map((line) => (JSON.parse(line) as unknown[]).map(decode) as Row));
    }
  },
  sequences: async () => sequences,
});

/**
 * Writes the database of a backup to a file that does not exist, with the schema that it had. Every row is read back
 * and compared.
 * @throws StartFailure if a newer version made the backup, or an object is damaged
 */
export const writeDatabase = async (
  place: BackupReader,
  database: StoredDatabase,
  { config, file }: { config: Config; file: string },
): Promise<void> => {
  refuseNewer(database.migrations);
  const local = { config: { ...config, database_url: null }, clock: systemClock, onFatal: () => undefined };
  const store = await openAnyStore(local, false, file);
  try {
    await migrate(store, selectApplied(database.migrations));
  } finally {
    await store.close();
  }
  const writer = openSqliteWriter(file);
  try {
    await copyTables(makeReader(place, database), writer);
  } finally {
    writer.close();
  }
};
