import type { DatabaseSync } from 'node:sqlite';

/** Transactions that share one fsync. */
const largestGroup = 64;
/** Milliseconds after which a group is committed even while more transactions wait. */
const longestGroup = 2;

type Group = { size: number; began: number; committed: Promise<void>; settle: (error?: unknown) => void };

const newGroup = (): Group => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => undefined);
  const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error));
  return { size: 0, began: performance.now(), committed: promise, settle };
};

/**
 * The one writer of a SQLite database, with group commit: transactions run one after another, each in a
 * savepoint of a shared `begin immediate`; one `commit` (one fsync) ends the group, and only then does any of
 * them answer. A transaction must not wait for anything but the database.
 */
export class SqliteWriter {
  readonly #database: DatabaseSync;
  readonly #onFatal: (error: unknown) => void;
  readonly #waiting: (() => void)[] = [];
  #busy = false;
  #group: Group | null = null;

  /** @param onFatal told when a commit failed: what was acknowledged before is safe, the process must end. */
  constructor(database: DatabaseSync, onFatal: (error: unknown) => void) {
    this.#database = database;
    this.#onFatal = onFatal;
  }

  async begin(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      if (this.#group === null) {
        this.#database.exec('begin immediate');
        this.#group = newGroup();
      }
      this.#database.exec('savepoint one');
    } catch (error) {
      this.#passOn();
      throw error;
    }
  }

  /** Resolves once the transaction is on disk. */
  async commit(): Promise<void> {
    await this.#end(['release one']);
  }

  /** Resolves once what the transaction may have read of its group is on disk. */
  async rollback(): Promise<void> {
    await this.#end(['rollback to one', 'release one']);
  }

  async #end(statements: string[]): Promise<void> {
    const group = this.#group;
    if (group === null) throw new Error('no transaction is open');
    try {
      // A full disk or an I/O error ends the whole transaction: then nothing of the group was stored.
      if (!this.#database.isTransaction) throw new Error('the store ended the transaction');
      for (const statement of statements) this.#database.exec(statement);
      group.size += 1;
    } catch (error) {
      this.#abandon(group, error);
    }
    this.#passOn();
    await group.committed;
  }

  #passOn(): void {
    const full = this.#group !== null && this.#isFull(this.#group);
    if (full) this.#flush();
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#busy = false;
    // Requests of the same turn of the loop join the group before it is committed.
    if (this.#group !== null) setImmediate(() => this.#busy || this.#flush());
  }

  #isFull(group: Group): boolean {
    return group.size >= largestGroup || performance.now() - group.began >= longestGroup;
  }

  #flush(): void {
    const group = this.#group;
    if (group === null) return;
    this.#group = null;
    try {
      this.#database.exec('commit');
      group.settle();
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback');
      group.settle(error);
      this.#onFatal(error);
    }
  }

  #abandon(group: Group, error: unknown): void {
    this.#group = null;
    if (this.#database.isTransaction) this.#database.exec('rollback');
    group.settle(error);
  }
}
