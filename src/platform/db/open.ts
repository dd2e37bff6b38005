import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../time.ts';
import { bindConnection, setStoreParts, unbindConnection } from './compiled_query.ts';
import type { EngineParts, OpenOptions, SqlDialect } from './engine.ts';
import type { Schema } from './schema/database.ts';
import { makeWriteTurns } from './write_turns.ts';

/** For reads: the store, or a transaction. */
export type Reader = Kysely<Schema>;

/** A transaction, for writes, with one time for everything that it writes. */
export type Tx = {
  db: Transaction<Schema>;
  dialect: SqlDialect;
  /** Milliseconds since 1970. */
  now: number;
  /** Runs after the commit, never after a rollback. Must not throw. */
  afterCommit: (work: () => void) => void;
  /** Runs after the commit or the rollback. Must not throw. */
  afterEnd: (work: (isCommitted: boolean) => void) => void;
  /** Notifies listeners of a topic in this process after the commit, once per transaction. */
  announce: (topic: string) => void;
  /** Like `announce`, for every process of the service. */
  broadcast: (topic: string) => void;
  /** Hands an item to the observers of a topic (`Store.observe`) before the commit. */
  collect: (topic: string, item: unknown) => void;
};

/** Receives what a transaction collected, in order, and writes in the same transaction. */
export type Observer = (tx: Tx, items: unknown[]) => Promise<void>;

/**
 * Runs `work` in one transaction and resolves once it is durable. PostgreSQL: retried on a conflict.
 * @param turn names the row that all such transactions lock first. In this process, transactions with the same row run
 * in order of arrival. No effect on SQLite, whose single writer runs all in order.
 */
export type Write = <T>(work: (tx: Tx) => Promise<T>, turn?: string) => Promise<T>;

export type Store = {
  db: Reader;
  /** SQLite: path of the database file, for read handles of worker threads. */
  file: string | null;
  dialect: SqlDialect;
  write: Write;
  /**
   * Like `write`, but resolves before the transaction is on disk: it survives the end of the process, and a power cut
   * only if a later `write` was acknowledged. For records of work that may run twice, such as leases.
   */
  writeRelaxed: Write;
  /**
   * Calls the listener after each commit that announced the topic, in another process if it was broadcast. Also calls
   * it if a notification may have been missed. Returns a function that unsubscribes.
   */
  listen: (topic: string, listener: () => void) => () => void;
  /** Adds an observer of a topic. Without one, collected items are dropped. */
  observe: (topic: string, observer: Observer) => void;
  /** Starts passing broadcasts of other processes to the listeners. */
  listenToProcesses: () => Promise<void>;
  isUniqueViolation: (error: unknown) => boolean;
  isForeignKeyViolation: (error: unknown) => boolean;
  isStoreFull: (error: unknown) => boolean;
  /**
   * Returns whether an error is a deadlock or a conflict with other transactions. `write` throws it after its last
   * retry.
   */
  isConflict: (error: unknown) => boolean;
  /** Returns whether a statement gave up waiting for a lock. */
  isLockTimeout: (error: unknown) => boolean;
  /** Returns whether an error means that the database does not respond at the moment. */
  isUnreachable: (error: unknown) => boolean;
  close: () => Promise<void>;
} & Pick<EngineParts, 'ddl' | 'countConnections' | 'runExclusively' | 'takePlace'>;

/** PostgreSQL: maximum attempts of a transaction that meets a deadlock or a conflict. */
const maxTries = 6;
/** Milliseconds per attempt so far; random, so that conflicting transactions do not conflict again immediately. */
const maxPauseMilliseconds = 20;

type Observers = ReadonlyMap<string, readonly Observer[]>;

/** Collects items by topic, for topics that have an observer. */
const makeCollector = (observers: Observers) => {
  const collected = new Map<string, unknown[]>();
  return {
    collect: (topic: string, item: unknown): void => {
      if (!observers.has(topic)) return;
      const items = collected.get(topic);
      if (items === undefined) collected.set(topic, [item]);
      else items.push(item);
    },
    flush: async (tx: Tx): Promise<void> => {
      for (const [topic, items] of collected)
        for (const observer of observers.get(topic) ?? []) await observer(tx, items);
    },
  };
};

type Reactions = { listeners: EventEmitter; observers: Observers };

/** Runs one transaction, then its work for after the commit. */
const runsOnce =
  (parts: EngineParts, clock: Clock, { listeners, observers }: Reactions) =>
  async <T>(work: (tx: Tx) => Promise<T>, isRelaxed: boolean): Promise<T> => {
    const ends: ((isCommitted: boolean) => void)[] = [];
    const afterEnd: Tx['afterEnd'] = (then) => void ends.push(then);
    const end = (isCommitted: boolean): void => ends.forEach((then) => then(isCommitted));
    const { collect, flush } = makeCollector(observers);
    const [near, far] = [new Set<string>(), new Set<string>()];
    const announce: Tx['announce'] = (topic) => void near.add(topic);
    const shared: Omit<Tx, 'db' | 'now'> = {
      dialect: parts.dialect,
      afterCommit: (then) => afterEnd((isCommitted) => void (isCommitted && then())),
      afterEnd,
      announce,
      collect,
      broadcast: (topic) => {
        far.add(topic);
        announce(topic);
      },
    };
    const inside = async (db: Transaction<Schema>): Promise<T> => {
      if (isRelaxed) await parts.relax(db);
      await bindConnection(db);
      try {
        const tx = { ...shared, db, now: clock.now() };
        const done = await work(tx);
        await flush(tx);
        for (const topic of far) await parts.notifyProcesses(db, topic);
        return done;
      } finally {
        unbindConnection(db);
      }
    };
    const result = await parts.db
      .transaction()
      .execute(inside)
      .catch((error: unknown) => {
        end(false);
        throw error;
      });
    end(true);
    for (const topic of near) listeners.emit(topic);
    return result;
  };

/** Retries transactions after conflicts, and runs transactions with the same turn in order, if the engine needs it. */
const makesWrites = (
  once: ReturnType<typeof runsOnce>,
  isConflict: (error: unknown) => boolean,
  hasTurns: boolean,
) => {
  const retried = async <T>(work: (tx: Tx) => Promise<T>, isRelaxed: boolean): Promise<T> => {
    for (let tried = 1; ; tried += 1) {
      try {
        return await once(work, isRelaxed);
      } catch (error) {
        if (tried === maxTries || !isConflict(error)) throw error;
        await wait(Math.random() * maxPauseMilliseconds * tried);
      }
    }
  };
  const runInTurn = hasTurns ? makeWriteTurns() : null;
  return (isRelaxed: boolean): Write =>
    async (work, turn) =>
      runInTurn === null || turn === undefined
        ? await retried(work, isRelaxed)
        : await runInTurn(turn, async () => await retried(work, isRelaxed));
};

export const openStore = async (options: OpenOptions, clock: Clock): Promise<Store> => {
  // Load only the engine that is used.
  const dialect = await (options.url === undefined
    ? import('./sqlite/engine.ts')
    : import('./postgres/engine.ts'));
  const parts = await dialect.openEngine(options);
  setStoreParts(parts.db, parts);
  const listeners = new EventEmitter();
  const observers = new Map<string, Observer[]>();
  const once = runsOnce(parts, clock, { listeners, observers });
  const makeWrite = makesWrites(once, dialect.isConflict, options.url !== undefined);
  let stopListening = async (): Promise<void> => undefined;

  return {
    db: parts.db,
    file: options.url === undefined ? options.file : null,
    ddl: parts.ddl,
    runExclusively: parts.runExclusively,
    takePlace: parts.takePlace,
    ...(parts.countConnections && { countConnections: parts.countConnections }),
    dialect: parts.dialect,
    write: makeWrite(false),
    writeRelaxed: makeWrite(true),
    listen: (topic, listener) => {
      listeners.on(topic, listener);
      return () => void listeners.off(topic, listener);
    },
    observe: (topic, observer) => void observers.set(topic, [...(observers.get(topic) ?? []), observer]),
    listenToProcesses: async () => {
      stopListening = await parts.listenToProcesses((topic) => {
        for (const notified of topic === null ? listeners.eventNames() : [topic]) listeners.emit(notified);
      });
    },
    isUniqueViolation: dialect.isUniqueViolation,
    isForeignKeyViolation: dialect.isForeignKeyViolation,
    isStoreFull: dialect.isStoreFull,
    isConflict: dialect.isConflict,
    isLockTimeout: dialect.isLockTimeout,
    isUnreachable: dialect.isUnreachable,
    close: async () => {
      await stopListening();
      await parts.close();
    },
  };
};
