/** Counts the commits that wrote each table, so that what was read can be kept until one of its tables changes. */
import { type DatabaseSync, type StatementSync, constants } from 'node:sqlite';
import { type Meter, currentMeter } from '../statement_meter.ts';

const writeActions = new Set<number>([
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
]);

/** Represents all tables: each commit counts for it. */
const everyTable = '*';

/** Prepares statements of a handle together with the tables that they use. */
export class TableCollector {
  readonly #database: DatabaseSync;
  /** Receives the tables of the statement being prepared. */
  #collecting: { writes: Set<string>; reads: Set<string> } | null = null;

  constructor(database: DatabaseSync) {
    this.#database = database;
    // SQLite also reports here what triggers and foreign keys use.
    database.setAuthorizer((action, table) => {
      if (this.#collecting === null || table === null) return constants.SQLITE_OK;
      if (writeActions.has(action)) this.#collecting.writes.add(table);
      else if (action === constants.SQLITE_READ) this.#collecting.reads.add(table);
      return constants.SQLITE_OK;
    });
  }

  prepare(text: string): { statement: StatementSync; writes: readonly string[]; reads: readonly string[] } {
    const used = { writes: new Set<string>(), reads: new Set<string>() };
    this.#collecting = used;
    try {
      const statement = this.#database.prepare(text);
      return { statement, writes: [...used.writes], reads: [...used.reads] };
    } finally {
      this.#collecting = null;
    }
  }
}

/** Milliseconds after which a request looks again for commits of other processes. */
const pollInterval = 5;

export class TableVersions {
  readonly #database: DatabaseSync;
  readonly #versions = new Map<string, number>();
  /** Tables that the open group has written. */
  readonly #written = new Set<string>();
  #foreign: StatementSync | null = null;
  /** Version of other processes' commits that the last request or work has seen. */
  #seen: { by: Meter; at: number; version: number } | null = null;

  /** @param database the handle of the single writer of this process */
  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Notes that the open group wrote these tables. */
  write(tables: readonly string[]): void {
    for (const table of tables) this.#written.add(table);
  }

  /** Called immediately after a commit or a rollback of the open group, before any other read. */
  end(isCommitted: boolean): void {
    if (isCommitted) this.#written.add(everyTable);
    else this.#written.clear();
    for (const table of this.#written) this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1);
    this.#written.clear();
  }

  /**
   * Returns a text that differs from earlier ones of the same tables once a commit has written one of them. Commits of
   * another process, such as `gantry admin`, count for every table.
   * @param isInside read in a transaction: null if its group has written one of the tables
   */
  read(tables: readonly string[], isInside: boolean): string | null {
    if (isInside && tables.some((table) => this.#written.has(table))) return null;
    // Versions only rise, so the sum of the same tables rises with each change of one of them.
    let sum = 0;
    for (const table of tables) sum += this.#versions.get(table) ?? 0;
    return `${this.#readForeign()} ${sum}`;
  }

  /** A request reads several versions at its start. Looking once is never older than its arrival. */
  #readForeign(): number {
    const by = currentMeter();
    const at = performance.now();
    if (by !== undefined && this.#seen?.by === by && at - this.#seen.at < pollInterval)
      return this.#seen.version;
    this.#foreign ??= this.#prepareForeign();
    const [version = 0] = this.#foreign.get() as unknown as number[];
    this.#seen = by === undefined ? null : { by, at, version };
    return version;
  }

  /** On this handle, the number changes only with commits of other handles. */
  #prepareForeign(): StatementSync {
    const statement = this.#database.prepare('pragma data_version');
    statement.setReturnArrays(true);
    return statement;
  }
}
