/** Records the statements of the services of this process, on both engines. */
import pg from 'pg';
import { observeOperations } from '../../src/platform/db/statement_meter.ts';

/**
 * Calls `record` with the text of each statement that the store runs; on SQLite, not with those of other threads.
 * Returns a function that ends this.
 */
export const recordStatements = (record: (text: string) => void): (() => void) =>
  observeOperations(({ kind, name }) => void (kind === 'sql' && record(name)));

/** Lists the statements that return rows, of those that the store runs during `work`. */
export const statementsDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
  const texts: string[] = [];
  const stop = recordStatements((text) => void (/^\s*(?:select|with)\b/i.test(text) && texts.push(text)));
  try {
    await work();
  } finally {
    stop();
  }
  return texts;
};

type Statement = { text: string; values: unknown[] };

/** Sends a statement through the same client, unobserved. */
type Send = (text: string, values: unknown[]) => Promise<pg.QueryResult>;

// oxlint-disable-next-line typescript/unbound-method -- it is called with its client
const { query } = pg.Client.prototype;

/**
 * Calls `before` with each statement and its values before PostgreSQL gets it. Neither the store nor the driver tells
 * others the values, so this replaces a method of the driver. Returns a function that puts it back.
 */
export const observeQueries = (
  before: (statement: Statement, send: Send) => Promise<unknown> | void,
): (() => void) => {
  pg.Client.prototype.query = function observing(this: pg.Client, ...args: unknown[]): unknown {
    const [first, second = []] = args as [string | Partial<Statement>, unknown[]?];
    const { text = '', values = second }: Partial<Statement> =
      typeof first === 'string' ? { text: first } : first;
    const send: Send = async (...statement) =>
      (await Reflect.apply(query, this, statement)) as pg.QueryResult;
    const waiting = before({ text, values }, send);
    const pass = (): unknown => Reflect.apply(query, this, args);
    return waiting === undefined ? pass() : waiting.then(pass);
  } as typeof query;
  return () => void (pg.Client.prototype.query = query);
};
