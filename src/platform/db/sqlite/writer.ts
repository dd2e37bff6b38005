import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailable } from '../../errors.ts';
import { isBusy, isDamage, isFull } from './errors.ts';

/** Maximum transactions that share one commit. */
const maxGroupTransactions = 64;
/** Milliseconds after which a group is committed even if more transactions wait. */
const maxGroupMilliseconds = 10;

/** Timeouts in milliseconds. */
export type Timeouts = {
  /** Maximum time that another process may lock the database before writes are refused. */
  busy: number;
  /** Maximum time a transaction may be idle, because it blocks all other writers. */
  transaction: number;
};

const defaultTimeouts: Timeouts = { busy: 5_000, transaction: 30_000 };
/** Milliseconds between two attempts to lock the database while another process holds it. */
const pollInterval = 5;

type Group = {
  size: number;
  began: number;
  /** True if any of its transactions must be on disk before it resolves. */
  isDurable: boolean;
  committed: Promise<void>;
  settle: (error?: unknown) => void;
};

const newGroup = (): Group => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
  return { size: 0, began: performance.now(), isDurable: false, committed: promise, settle };
};

/** A transaction, from `begin` to `commit` or `rollback`. */
export type Turn = {
  readonly group: Group;
  readonly began: number;
  /**
   * True if a savepoint separates it from earlier transactions of its group. The first transaction needs no savepoint.
   */
  readonly hasSavepoint: boolean;
  /** True if it resolves only once it is on disk. May be cleared before its end. */
  isDurable: boolean;
  /** Makes the error that refuses its statements; null while it is active. */
  ended: (() => Error) | null;
};

export type WriterParts = {
  /** Puts everything committed on disk. */
  sync: () => void;
  /** Called when no more writes may be acknowledged. Earlier commits are safe; the process must exit. */
  onFatal: (error: unknown) => void;
  /** Called after each commit or rollback of a group, before anything else runs. */
  onEnd?: (isCommitted: boolean) => void;
};

type Waiting = { start: (turn: Turn) => void; refuse: (error: unknown) => void };

/** Made only if it is thrown: its stack costs more than a statement. */
const endedError = (): Error => new Error('the transaction has ended');

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * The single writer of a SQLite database, with group commit. Transactions run one after another in a shared `begin
 * immediate`, each after the first in a savepoint. One `commit` and one sync of the log end the group, and only then do
 * its transactions resolve. Between two groups, the event loop runs other work.
 *
 * A full disk refuses the current group, and the next group may try again. After any other failed commit, and after
 * damage, no more writes are acknowledged.
 */
export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #sync: () => void;
  readonly #onFatal: (error: unknown) => void;
  readonly #timeouts: Timeouts;
  readonly #onEnd: (isCommitted: boolean) => void;
  readonly #waiting: Waiting[] = [];
  #turn: Turn | null = null;
  #group: Group | null = null;
  /** The group that is open for more transactions. */
  #gathering: Group | null = null;
  /** Size of the previous group. */
  #lastSize = 1;
  /** True if a callback is scheduled that continues with waiting transactions. */
  #isPaused = false;
  #busySince: number | null = null;
  /** Fires when a transaction may have been idle for too long. One for all: each costs as much as a statement. */
  #limit: NodeJS.Timeout | null = null;
  #failure: Error | null = null;

  constructor(
    database: DatabaseSync,
    { sync, onFatal, onEnd = () => undefined }: WriterParts,
    timeouts: Timeouts = defaultTimeouts,
  ) {
    this.#database = database;
    this.#sync = sync;
    this.#onFatal = onFatal;
    this.#timeouts = timeouts;
    this.#onEnd = onEnd;
    // Waiting inside SQLite would block the whole process, so `#openGroup` polls instead.
    database.exec('pragma busy_timeout = 0');
  }

  /** True if the handle has no open transaction and no failure, so that it reads only committed data. */
  get isIdle(): boolean {
    return this.#group === null && this.#failure === null;
  }

  /** Resolves when the transaction may start. */
  async begin(): Promise<Turn> {
    return await new Promise<Turn>((start, refuse) => {
      this.#waiting.push({ start, refuse });
      this.#next();
    });
  }

  /** Runs one statement of the active transaction. */
  run<T>(turn: Turn, statement: () => T): T {
    if (turn.ended !== null) throw turn.ended();
    try {
      return statement();
    } catch (error) {
      if (isDamage(error)) this.#fail(error, turn.group);
      // A full disk may end the whole transaction; then nothing of the group was stored.
      else if (!this.#database.isTransaction) this.#abandon(turn.group, error);
      throw error;
    }
  }

  /** Resolves once the transaction is on disk, or only committed if it need not be durable. */
  async commit(turn: Turn): Promise<void> {
    if (turn.ended !== null) throw turn.ended();
    this.#end(turn, turn.hasSavepoint ? 'release one' : null);
    await turn.group.committed;
  }

  /** Rolls back. Resolves once everything of its group that the transaction may have read is on disk. */
  async rollback(turn: Turn): Promise<void> {
    if (turn.ended !== null) return;
    if (turn.hasSavepoint) this.#end(turn, 'rollback to one; release one');
    else this.#discard(turn, endedError);
    await turn.group.committed;
  }

  /** Resolves when every transaction, running or waiting, has ended. */
  async close(): Promise<void> {
    while (this.#turn !== null || this.#group !== null || this.#waiting.length > 0) {
      await nextTurn();
    }
  }

  #next(): void {
    if (this.#turn !== null || this.#isPaused) return;
    if (this.#failure !== null) {
      this.#refuseAll(this.#failure);
    } else if (this.#group !== null && isReady(this.#group)) {
      this.#flush();
      this.#pause((resume) => void setImmediate(resume));
    } else if (this.#waiting.length > 0) {
      this.#start();
    } else if (this.#group !== null) {
      this.#gather(this.#group);
    }
  }

  /**
   * Commits a group once a whole event loop turn added nothing to it: clients that are answered together send their
   * next requests together. A lone writer does not wait for others.
   */
  #gather(group: Group): void {
    if (this.#gathering === group) return;
    this.#gathering = group;
    let seen = group.size === 1 && this.#lastSize === 1 ? group.size : 0;
    const flushWhenQuiet = (): void => {
      if (this.#group !== group || this.#turn !== null) {
        this.#gathering = null;
      } else if (group.size === seen || isReady(group)) {
        this.#flush();
      } else {
        seen = group.size;
        setImmediate(flushWhenQuiet);
      }
    };
    setImmediate(flushWhenQuiet);
  }

  #pause(until: (resume: () => void) => void): void {
    this.#isPaused = true;
    until(() => {
      this.#isPaused = false;
      this.#next();
    });
  }

  #start(): void {
    const hasSavepoint = this.#group !== null;
    const group = this.#group ?? this.#openGroup();
    if (group === null) return;
    try {
      if (hasSavepoint) this.#database.exec('savepoint one');
    } catch (error) {
      this.#refuseAll(error);
      this.#abandon(group, error);
      return;
    }
    const turn: Turn = { group, began: performance.now(), hasSavepoint, isDurable: true, ended: null };
    this.#turn = turn;
    if (this.#limit === null) this.#limitIn(this.#timeouts.transaction);
    this.#waiting.shift()?.start(turn);
  }

  /** Opens a group; null if the waiting transactions keep waiting, or were refused. */
  #openGroup(): Group | null {
    try {
      this.#database.exec('begin immediate');
      this.#busySince = null;
      this.#group = newGroup();
    } catch (error) {
      if (isDamage(error)) this.#fail(error, null);
      else if (isBusy(error)) this.#waitForOthers();
      else this.#refuseAll(error);
    }
    return this.#group;
  }

  #waitForOthers(): void {
    this.#busySince ??= performance.now();
    if (performance.now() - this.#busySince > this.#timeouts.busy) {
      this.#busySince = null;
      this.#refuseAll(unavailable());
    } else {
      this.#pause((resume) => void setTimeout(resume, pollInterval));
    }
  }

  #refuseAll(error: unknown): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #end(turn: Turn, statements: string | null): void {
    try {
      if (statements !== null) this.#database.exec(statements);
    } catch (error) {
      if (isDamage(error)) this.#fail(error, turn.group);
      else this.#abandon(turn.group, error);
      throw error;
    }
    turn.group.size += 1;
    turn.group.isDurable ||= turn.isDurable;
    this.#endTurn(endedError);
    this.#next();
  }

  #endTurn(why: () => Error): void {
    if (this.#turn === null) return;
    this.#turn.ended = why;
    this.#turn = null;
  }

  #limitIn(milliseconds: number): void {
    this.#limit = setTimeout(() => {
      this.#limit = null;
      if (this.#turn === null) return;
      const left = this.#turn.began + this.#timeouts.transaction - performance.now();
      if (left > 0) this.#limitIn(Math.ceil(left));
      else this.#expire(this.#turn);
    }, milliseconds).unref();
  }

  #expire(turn: Turn): void {
    const why = (): Error =>
      new Error('the transaction waited for something other than the database: it is rolled back');
    if (!turn.hasSavepoint) {
      this.#discard(turn, why);
      return;
    }
    this.#endTurn(why);
    try {
      this.#database.exec('rollback to one; release one');
    } catch (error) {
      this.#abandon(turn.group, error);
      return;
    }
    this.#next();
  }

  /** Rolls back the only transaction of a group, and the group with it. */
  #discard({ group }: Turn, why: () => Error): void {
    this.#group = null;
    try {
      this.#database.exec('rollback');
    } catch (error) {
      this.#fail(error, group);
      return;
    }
    this.#onEnd(false);
    this.#endTurn(why);
    group.settle();
    this.#next();
  }

  #flush(): void {
    const group = this.#group;
    if (group === null) return;
    try {
      this.#database.exec('commit');
    } catch (error) {
      if (isFull(error)) this.#abandon(group, error);
      else this.#fail(error, group);
      return;
    }
    try {
      if (group.isDurable) this.#sync();
    } catch (error) {
      this.#fail(error, group);
      return;
    }
    this.#onEnd(true);
    this.#lastSize = group.size;
    this.#group = null;
    group.settle();
  }

  /** Refuses every transaction of a group that stored nothing. The next group starts from scratch. */
  #abandon(group: Group, error: unknown): void {
    this.#group = null;
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback');
    } catch (rollbackError) {
      this.#fail(rollbackError, group);
      return;
    }
    this.#onEnd(false);
    const reason = asError(error);
    this.#endTurn(() => reason);
    group.settle(error);
    this.#next();
  }

  #fail(error: unknown, group: Group | null): void {
    const failure = asError(error);
    this.#failure = failure;
    this.#group = null;
    this.#endTurn(() => failure);
    group?.settle(error);
    this.#refuseAll(error);
    this.#onFatal(error);
  }
}

const isReady = ({ size, began }: Group): boolean =>
  size >= maxGroupTransactions || performance.now() - began >= maxGroupMilliseconds;
