/**
 * Fills SQLite's trigram indexes in the background, because indexing costs more than the rest of an edit. PostgreSQL
 * maintains its own index.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Store } from '../../../platform/db/open.ts';
import { type SearchTable, searchTables, searchTopic } from './search.ts';

/** Amount that one transaction indexes: about 10 ms of work, because no request is served meanwhile. */
const batch = { rows: 200, bytes: 65_536 };

/** Bytes. A longer text holds the process up for too long: it is never indexed, and each search compares it. */
const maxTextBytes = 200_000;

/** Selects the next pending texts and the id to continue after; null if none is pending. */
const nextIds = async ({ db }: Store, { table, id }: SearchTable, after: number) => {
  const { rows } = await sql<{ id: number; size: number }>`
    select id, size from (
      select ${sql.ref(id)} as id, octet_length(title) + octet_length(description) as size
      from ${sql.table(table)} indexed by ${sql.ref(`${table}_waiting`)}
      where indexed = 0 and ${sql.ref(id)} > ${after})
    where size <= ${maxTextBytes} order by id limit ${batch.rows}`.execute(db);
  let bytes = 0;
  const fitting = rows.filter(({ size }, at) => (bytes += size) <= batch.bytes || at === 0);
  return fitting.map((row) => row.id);
};

/** Idempotent: replaces indexed texts and skips deleted records. */
const indexTexts = async (store: Store, { table, id }: SearchTable, ids: number[]): Promise<void> =>
  await store.write(async ({ db, dialect }) => {
    const these = sql`${dialect.oneOf(`${table}.${id}`, ids)} and indexed = 0`;
    await sql`insert or replace into ${sql.table(`${table}_index`)} (rowid, title, description)
      select ${sql.ref(id)}, title, description from ${sql.table(table)} where ${these}`.execute(db);
    await sql`update ${sql.table(table)} set indexed = 1 where ${these}`.execute(db);
  });

/**
 * Indexes all pending texts, in short transactions.
 * @param rest called after each of them with the milliseconds that it took; false: enough for now
 */
export const fillSearchIndexes = async (
  store: Store,
  rest: (took: number) => Promise<boolean> = async () => true,
): Promise<void> => {
  if (store.dialect.engine !== 'sqlite') return;
  for (const searchTable of Object.values(searchTables)) {
    let after = 0;
    for (;;) {
      const ids = await nextIds(store, searchTable, after);
      if (ids.length === 0) break;
      const began = performance.now();
      await indexTexts(store, searchTable, ids);
      after = ids.at(-1) ?? after;
      if (!(await rest(performance.now() - began))) return;
    }
  }
};

/** Milliseconds. */
type IndexDelays = {
  /** Without a change of a text, before what waits is indexed. */
  quiet: number;
  /** Time after which it is indexed even while texts keep changing. */
  maxDelay: number;
};

/** Share of the time reserved for requests while the index is filled: three quarters. */
const restsFor = 3;

/**
 * Indexes waiting rows now, and changed rows from now on. Nothing is enqueued, so a change costs nothing extra: the
 * rows themselves are marked as waiting, and an interrupted store continues at its next start.
 * @returns a function that ends it
 */
export const keepSearchIndexed = (
  { store, log }: { store: Store; log: Logger },
  { quiet, maxDelay }: IndexDelays = { quiet: 3_000, maxDelay: 30_000 },
): (() => Promise<void>) => {
  if (store.dialect.engine !== 'sqlite') return async () => undefined;
  let isStopping = false;
  let running = Promise.resolve();
  let waitsSince: number | null = null;
  const pauseAfter = async (took: number): Promise<boolean> => {
    if (!isStopping) await wait(took * restsFor, undefined, { ref: false });
    return !isStopping;
  };
  const fill = async (): Promise<void> => {
    try {
      await fillSearchIndexes(store, pauseAfter);
    } catch (error) {
      // Waiting rows are found anyway; the next change retries.
      log.warn({ err: error }, 'texts were not indexed');
    }
  };
  const timer = setTimeout(() => {
    waitsSince = null;
    running = running.then(fill);
  }, quiet).unref();
  const endListening = store.listen(searchTopic, () => {
    const now = performance.now();
    waitsSince ??= now;
    if (now - waitsSince < maxDelay) timer.refresh();
  });
  return async () => {
    isStopping = true;
    endListening();
    clearTimeout(timer);
    await running;
  };
};
