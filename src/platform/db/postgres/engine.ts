import pg from 'pg';
import { Kysely, type RawBuilder, sql } from 'kysely';
import { StartFailure } from '../../errors.ts';
import { mapValue } from '../compiled_query.ts';
import { postgresDdl } from '../ddl_keywords.ts';
import type { EngineParts, OpenOptions } from '../engine.ts';
import { getChannelName, listen } from './channel.ts';
import { Dialect } from './compiler.ts';
import { countStatement } from '../statement_meter.ts';
import { getConnectTimeout } from './connect_timeout.ts';
import { numberTypes } from './number_types.ts';
import { makeRunExclusively } from './run_exclusively.ts';
import { makeSharedPlaces } from './shared_places.ts';
import { forgetPrepared, isPlanGone, prepare, preparedName } from './prepared_statements.ts';
import { connectionName } from '../process_name.ts';
import type { Schema } from '../schema/database.ts';

const oldestVersion = 130_000;

/** Counts each statement for the request's meter, and refuses statements after the end of their transaction. */
class CountingClient extends pg.Client {
  #isEnding = false;
  #isTransaction = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // A connection that the server closed reports it here and by the failing statement. Without a listener, the
    // process would end.
    this.on('error', () => undefined);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares six overloads of one function
  override query(...args: any[]): any {
    const text = typeof args[0] === 'string' ? args[0] : (args[0] as { text?: string })?.text;
    if (this.#isEnding) throw new Error('the transaction has ended');
    const started = performance.now();
    if (text === 'begin') this.#isTransaction = true;
    const answer = this.#ask(args);
    if (text === undefined || !(answer instanceof Promise) || text === 'begin') return answer;
    if (text !== 'commit' && text !== 'rollback') return answer.finally(() => countStatement(text, started));
    this.#isEnding = true;
    return answer.finally(() => {
      this.#isEnding = false;
      this.#isTransaction = false;
    });
  }

  /**
   * Sends recurring statements by name, so that each connection parses them once.
   * oxlint-disable-next-line typescript/no-explicit-any
   */
  // oxlint-disable-next-line typescript/no-explicit-any
  #ask(args: any[]): any {
    // oxlint-disable-next-line typescript/no-explicit-any
    const send = (...all: any[]): any => (super.query as any)(...all);
    const [text, values] = args;
    const name = args.length === 2 && typeof text === 'string' ? preparedName(text) : undefined;
    if (name === undefined) return send(...args);
    return send({ name, text, values }).catch((error: unknown) => {
      if (!isPlanGone(error)) throw error;
      forgetPrepared(text);
      // A failed statement aborts the transaction, so the whole transaction must be retried.
      if (this.#isTransaction) throw error;
      return send(...args);
    });
  }
}

const unreachable = (error: unknown): StartFailure =>
  new StartFailure(
    `PostgreSQL cannot be used (${error instanceof Error ? error.message || error.name : String(error)}): ` +
      'check GANTRY_DATABASE_URL and that the server runs',
  );

/**
 * Creates the schema under a lock: concurrent `create schema` statements clash despite `if not exists`. Both
 * statements are one transaction.
 */
const createSchema = (schema: string): string =>
  `select pg_advisory_xact_lock(6781203); create schema if not exists ${pg.escapeIdentifier(schema)}`;

const prepareSchema = async (
  pool: pg.Pool,
  { schema, readOnly = false }: Pick<OpenOptions, 'schema' | 'readOnly'>,
): Promise<void> => {
  try {
    const { rows } = await pool.query<{ version: string }>(
      "select current_setting('server_version_num') as version",
    );
    if (Number(rows[0]?.version) < oldestVersion) throw new Error('version 13 or newer is needed');
    if (readOnly) return;
    const existing = await pool.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (existing.rowCount === 0) await pool.query(createSchema(schema));
  } catch (error) {
    await pool.end();
    throw unreachable(error);
  }
};

export const openEngine = async (options: OpenOptions): Promise<EngineParts> => {
  let pool: pg.Pool;
  try {
    pool = new pg.Pool({
      connectionString: options.url,
      max: options.connections,
      Client: CountingClient,
      types: numberTypes,
      options: `-c search_path=${options.schema},public -c statement_timeout=10000${options.readOnly === true ? ' -c default_transaction_read_only=on' : ''}`,
      idle_in_transaction_session_timeout: 30_000,
      connectionTimeoutMillis: getConnectTimeout(options.url),
      application_name: connectionName,
    });
  } catch (error) {
    throw unreachable(error);
  }
  // The server closed an idle connection; the pool opens another one.
  pool.on('error', () => undefined);
  await prepareSchema(pool, options);
  const db = new Kysely<Schema>({ dialect: new Dialect({ pool }) });
  const places = makeSharedPlaces(options);
  return {
    db,
    prepare,
    relax: async (transaction) => void (await sql`set local synchronous_commit = off`.execute(transaction)),
    ddl: postgresDdl,
    dialect,
    notifyProcesses: async (within, topic) => {
      await sql`select pg_notify(${getChannelName(options)}, ${topic})`.execute(within);
    },
    listenToProcesses: async (onTopic) => await listen(options, getChannelName(options), onTopic),
    runExclusively: makeRunExclusively(options),
    takePlace: places.takePlace,
    countConnections: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: async () => {
      await places.close();
      await close(db, pool);
    },
  };
};

/** Closes the pool, which the query builder does only if it has used it. */
const close = async (db: Kysely<Schema>, pool: pg.Pool): Promise<void> => {
  await db.destroy();
  if (!pool.ended) await pool.end();
};

const dialect: EngineParts['dialect'] = {
  engine: 'postgres',
  oneOf: (column, values): RawBuilder<boolean> => sql`${sql.ref(column)} = any(${values})`,
  eachOf: (rows) => sql`json_array_elements(${mapValue(rows, JSON.stringify)}::json)`,
  indexedBy: () => sql``,
  jsonRows: (values, order) =>
    sql`coalesce(json_agg(json_build_array(${sql.join(values)}) order by ${order})::text, '[]')`,
  state: sql`select pg_current_snapshot()::text as state`,
  facts: sql`select current_setting('server_version') as version,
    pg_database_size(current_database()) as size`,
  lives: (column) => sql<boolean>`exists (select 1 from pg_stat_activity where application_name
    in ('gantry ' || ${sql.ref(column)}, 'gantry listens ' || ${sql.ref(column)}))`,
  forUpdate: sql`for no key update`,
  forHold: sql`for key share`,
  forExclusive: sql`for update`,
  skipLocked: sql`for no key update skip locked`,
};

const getErrorCode = (error: unknown): unknown => (error as { code?: unknown }).code;

export const isUniqueViolation = (error: unknown): boolean => getErrorCode(error) === '23505';
export const isForeignKeyViolation = (error: unknown): boolean => getErrorCode(error) === '23503';
export const isStoreFull = (error: unknown): boolean => getErrorCode(error) === '53100';

/** Returns whether a statement gave up waiting for a lock (`lock_timeout`). */
export const isLockTimeout = (error: unknown): boolean => getErrorCode(error) === '55P03';

/** Codes for: connection lost or refused, server starting or stopping, too many connections, statement timeout. */
const unreachableCode = /^(?:ECONN|ETIMEDOUT$|EPIPE$|ENOTFOUND$|EAI_AGAIN$|EHOST|08|57P0|53300$|57014$)/;
const unreachableText =
  /connection (?:terminated|ended|error)|timeout exceeded when trying to connect|not queryable/i;

/** Returns whether the server does not respond at the moment, so that the request can be retried. */
export const isUnreachable = (error: unknown): boolean => {
  const code = getErrorCode(error);
  const hasCode = typeof code === 'string' && unreachableCode.test(code);
  return hasCode || (error instanceof Error && unreachableText.test(error.message));
};

/** Returns whether a transaction can be retried: serialization failure, deadlock, or outdated prepared plan. */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(String(getErrorCode(error))) || isPlanGone(error);
