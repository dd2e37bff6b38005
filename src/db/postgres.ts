import pg from 'pg';
import { Kysely, type RawBuilder, sql } from 'kysely';
import { StartFailure } from '../errors.ts';
import { changed } from './compiled.ts';
import { postgresDdl } from './ddl.ts';
import type { EngineParts, OpenOptions } from './engine.ts';
import { channelOf, hear } from './postgres_channel.ts';
import { Dialect } from './postgres_compiler.ts';
import { countStatement } from './meter.ts';
import { connectPatience } from './postgres_patience.ts';
import { forgetPrepared, isPlanGone, prepare, preparedName } from './postgres_prepared.ts';
import { connectionName } from './process.ts';
import type { Schema } from './schema.ts';

const oldestVersion = 130_000;
const int8 = 20;
const numeric = 1700;

/** Every number that the schema holds fits a JavaScript integer, so 64-bit ones are read as numbers. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === int8 || oid === numeric ? Number : pg.types.getTypeParser(oid, format),
};

/** Counts each statement for the request's meter, and lets none through behind the end of its transaction. */
class CountingClient extends pg.Client {
  #isEnding = false;
  #isTransaction = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Told of a connection that the server cut, also by the statement that fails: without a listener, the
    // process would end.
    this.on('error', () => undefined);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- pg declares six overloads of one function
  override query(...given: any[]): any {
    const text = typeof given[0] === 'string' ? given[0] : (given[0] as { text?: string })?.text;
    if (this.#isEnding) throw new Error('the transaction has ended');
    const started = performance.now();
    if (text === 'begin') this.#isTransaction = true;
    const answer = this.#ask(given);
    if (text === undefined || !(answer instanceof Promise) || text === 'begin') return answer;
    if (text !== 'commit' && text !== 'rollback') return answer.finally(() => countStatement(text, started));
    this.#isEnding = true;
    return answer.finally(() => {
      this.#isEnding = false;
      this.#isTransaction = false;
    });
  }

  /** By name where the text is one that comes again and again: then each connection has it planned once. */
  // oxlint-disable-next-line typescript/no-explicit-any
  #ask(given: any[]): any {
    // oxlint-disable-next-line typescript/no-explicit-any
    const send = (...all: any[]): any => (super.query as any)(...all);
    const [text, values] = given;
    const name = given.length === 2 && typeof text === 'string' ? preparedName(text) : undefined;
    if (name === undefined) return send(...given);
    return send({ name, text, values }).catch((error: unknown) => {
      if (!isPlanGone(error)) throw error;
      forgetPrepared(text);
      // Of a transaction, all is tried again.
      if (this.#isTransaction) throw error;
      return send(...given);
    });
  }
}

const unreachable = (error: unknown): StartFailure =>
  new StartFailure(
    `PostgreSQL cannot be used (${error instanceof Error ? error.message || error.name : String(error)}): ` +
      'check GANTRY_DATABASE_URL and that the server runs',
  );

/** Two at once would clash in spite of `if not exists`: they take turns. Both statements are one transaction. */
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
    const known = await pool.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (known.rowCount === 0) await pool.query(createSchema(schema));
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
      types,
      options: `-c search_path=${options.schema},public -c statement_timeout=10000${options.readOnly === true ? ' -c default_transaction_read_only=on' : ''}`,
      idle_in_transaction_session_timeout: 30_000,
      connectionTimeoutMillis: connectPatience(options.url),
      application_name: connectionName,
    });
  } catch (error) {
    throw unreachable(error);
  }
  // An idle connection that the server closed: the pool opens another one.
  pool.on('error', () => undefined);
  await prepareSchema(pool, options);
  const db = new Kysely<Schema>({ dialect: new Dialect({ pool }) });
  return {
    db,
    prepare,
    ddl: postgresDdl,
    words,
    tellOthers: async (within, topic) => {
      await sql`select pg_notify(${channelOf(options)}, ${topic})`.execute(within);
    },
    hearOthers: async (onTopic) => await hear(options, channelOf(options), onTopic),
    close: () => close(db, pool),
  };
};

/** The query builder ends only a pool that it has used. */
const close = async (db: Kysely<Schema>, pool: pg.Pool): Promise<void> => {
  await db.destroy();
  if (!pool.ended) await pool.end();
};

const words: EngineParts['words'] = {
  engine: 'postgres',
  oneOf: (column, values): RawBuilder<boolean> => sql`${sql.ref(column)} = any(${values})`,
  eachOf: (rows) => sql`json_array_elements(${changed(rows, JSON.stringify)}::json)`,
  indexedBy: () => sql``,
  jsonRows: (values, order) =>
    sql`coalesce(json_agg(json_build_array(${sql.join(values)}) order by ${order})::text, '[]')`,
  state: sql`select pg_current_snapshot()::text as state`,
  lives: (column) => sql<boolean>`exists (select 1 from pg_stat_activity where application_name
    in ('gantry ' || ${sql.ref(column)}, 'gantry listens ' || ${sql.ref(column)}))`,
  forUpdate: sql`for no key update`,
  skipLocked: sql`for no key update skip locked`,
};

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === '23505';
export const isForeignKeyViolation = (error: unknown): boolean => codeOf(error) === '23503';
export const isStoreFull = (error: unknown): boolean => codeOf(error) === '53100';

/** Connection lost or refused, server starting or ending, too many connections, a statement that took too long. */
const unreachableCode = /^(?:ECONN|ETIMEDOUT$|EPIPE$|ENOTFOUND$|EAI_AGAIN$|EHOST|08|57P0|53300$|57014$)/;
const unreachableText =
  /connection (?:terminated|ended|error)|timeout exceeded when trying to connect|not queryable/i;

/** The server does not answer at the moment: whoever asks may ask again. */
export const isUnreachable = (error: unknown): boolean => {
  const code = codeOf(error);
  const hasCode = typeof code === 'string' && unreachableCode.test(code);
  return hasCode || (error instanceof Error && unreachableText.test(error.message));
};

/** A serialization failure, a deadlock, a plan that is none any more: the transaction may be tried again. */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(String(codeOf(error))) || isPlanGone(error);
