import { EventEmitter } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../time.ts';
import { goStraight, setWords, stopStraight } from './compiled.ts';
import type { EngineParts, OpenOptions, Words } from './engine.ts';
import type { Schema } from './schema.ts';

/** What reads receive: the store, or a transaction of it. */
export type Reader = Kysely<Schema>;

/** What writes receive: a transaction, with the one time that all it writes carries. */
export type Tx = {
  db: Transaction<Schema>;
  words: Words;
  /** Milliseconds since 1970. */
  now: number;
  /** Runs after the commit, never after a rollback; must not throw. */
  afterCommit: (work: () => void) => void;
  /** Calls those of this process who listen for the topic, after the commit: once, however often it was said. */
  announce: (topic: string) => void;
  /** As `announce`, to every process of the service. */
  broadcast: (topic: string) => void;
};

export type Store = {
  db: Reader;
  /** SQLite: the database's file, for handles of other threads that read. */
  file: string | null;
  words: Words;
  /** Runs `work` in one transaction and answers once it is durable. PostgreSQL: tried again on a conflict. */
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * Calls the listener after each commit that announced the topic, in another process where it was broadcast; also
   * where it may have been missed. Answers what ends that.
   */
  listen: (topic: string, listener: () => void) => () => void;
  /** From now on, what other processes broadcast reaches the listeners. */
  hearOthers: () => Promise<void>;
  isUniqueViolation: (error: unknown) => boolean;
  isForeignKeyViolation: (error: unknown) => boolean;
  isStoreFull: (error: unknown) => boolean;
  /** A deadlock or a conflict with other transactions: `write` throws it once it has retried for long enough. */
  isConflict: (error: unknown) => boolean;
  /** The database does not answer at the moment. */
  isUnreachable: (error: unknown) => boolean;
  close: () => Promise<void>;
} & Pick<EngineParts, 'ddl'>;

/** PostgreSQL: how often a transaction is begun that met a deadlock or a conflict. */
const mostTries = 6;
/** Milliseconds, times the tries so far: those who met do not meet again at once. */
const longestPause = 20;

/** Runs one transaction, and afterwards what it left to be done. */
const runsOnce =
  (parts: EngineParts, clock: Clock, listeners: EventEmitter) =>
  async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const later: (() => void)[] = [];
    const [near, far] = [new Set<string>(), new Set<string>()];
    const announce: Tx['announce'] = (topic) => void near.add(topic);
    const told: Omit<Tx, 'db' | 'now'> = {
      words: parts.words,
      afterCommit: (then) => void later.push(then),
      announce,
      broadcast: (topic) => {
        far.add(topic);
        announce(topic);
      },
    };
    const result = await parts.db.transaction().execute(async (db) => {
      await goStraight(db);
      try {
        const done = await work({ ...told, db, now: clock.now() });
        // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
        for (const topic of far) await parts.tellOthers(db, topic);
        return done;
      } finally {
        stopStraight(db);
      }
    });
    for (const then of later) then();
    for (const topic of near) listeners.emit(topic);
    return result;
  };

export const openStore = async (options: OpenOptions, clock: Clock): Promise<Store> => {
  // Only the engine that is used is loaded.
  const dialect = await (options.url === undefined ? import('./sqlite.ts') : import('./postgres.ts'));
  const parts = await dialect.openEngine(options);
  setWords(parts.db, parts);
  const listeners = new EventEmitter();
  const once = runsOnce(parts, clock, listeners);
  let stopHearing = async (): Promise<void> => undefined;

  const write = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let tried = 1; ; tried += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- a new try begins only after the last one failed
        return await once(work);
      } catch (error) {
        if (tried === mostTries || !dialect.isConflict(error)) throw error;
        // oxlint-disable-next-line no-await-in-loop
        await setTimeout(Math.random() * longestPause * tried);
      }
    }
  };

  return {
    db: parts.db,
    file: options.url === undefined ? options.file : null,
    ddl: parts.ddl,
    words: parts.words,
    write,
    listen: (topic, listener) => {
      listeners.on(topic, listener);
      return () => void listeners.off(topic, listener);
    },
    hearOthers: async () => {
      stopHearing = await parts.hearOthers((topic) => {
        for (const one of topic === null ? listeners.eventNames() : [topic]) listeners.emit(one);
      });
    },
    isUniqueViolation: dialect.isUniqueViolation,
    isForeignKeyViolation: dialect.isForeignKeyViolation,
    isStoreFull: dialect.isStoreFull,
    isConflict: dialect.isConflict,
    isUnreachable: dialect.isUnreachable,
    close: async () => {
      await stopHearing();
      await parts.close();
    },
  };
};
