import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../time.ts';
import type { EngineParts, OpenOptions, Words } from './engine.ts';
import * as postgres from './postgres.ts';
import type { Schema } from './schema.ts';
import * as sqlite from './sqlite.ts';

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
};

export type Store = {
  db: Reader;
  words: Words;
  /** Runs `work` in one transaction and answers once it is durable. PostgreSQL: tried again on a conflict. */
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  isUniqueViolation: (error: unknown) => boolean;
  isForeignKeyViolation: (error: unknown) => boolean;
  isStoreFull: (error: unknown) => boolean;
  close: () => Promise<void>;
} & Pick<EngineParts, 'ddl'>;

const mostTries = 4;

export const openStore = async (options: OpenOptions, clock: Clock): Promise<Store> => {
  const dialect = options.url === undefined ? sqlite : postgres;
  const parts = await dialect.openEngine(options);

  const once = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const later: (() => void)[] = [];
    const result = await parts.db.transaction().execute((db) =>
      work({ db, words: parts.words, now: clock.now(), afterCommit: (then) => void later.push(then) }),
    );
    for (const then of later) then();
    return result;
  };

  const write = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let tried = 1; ; tried += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- a new try begins only after the last one failed
        return await once(work);
      } catch (error) {
        if (tried === mostTries || !dialect.isConflict(error)) throw error;
      }
    }
  };

  return {
    db: parts.db,
    ddl: parts.ddl,
    words: parts.words,
    write,
    isUniqueViolation: dialect.isUniqueViolation,
    isForeignKeyViolation: dialect.isForeignKeyViolation,
    isStoreFull: dialect.isStoreFull,
    close: parts.close,
  };
};
