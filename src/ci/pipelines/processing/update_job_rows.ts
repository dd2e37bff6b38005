/** Compiled queries that update job rows on start and end. */
import { type AliasedRawBuilder, sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import { collectJobs } from '../../../core/events/collect_statuses.ts';
import type { Job } from '../pipeline_rows.ts';

export type Start = {
  runner_id: number;
  system_id: string | null;
  token_hash: string;
  /** Seconds. */
  timeout: number;
  cancels_gracefully?: 0 | 1;
};

type RowUpdate = { id: number; now: number };

type StartRow = Required<Start> & { id: number };

const toColumn = <T>(name: string, at: number, type: 'bigint' | 'text'): AliasedRawBuilder<T, string> =>
  sql<T>`cast(value ->> ${sql.lit(at)} as ${sql.raw(type)})`.as(name);

/** Builds a virtual table `start` with one row per started job. */
const toStartTable = (dialect: SqlDialect, rows: readonly (readonly unknown[])[]) => {
  const cells = [
    toColumn('id', 0, 'bigint'),
    toColumn('runner_id', 1, 'bigint'),
    toColumn('system_id', 2, 'text'),
    toColumn('token_hash', 3, 'text'),
    toColumn('timeout', 4, 'bigint'),
    toColumn('cancels_gracefully', 5, 'bigint'),
  ];
  return sql<StartRow>`(select ${sql.join(cells)} from ${dialect.eachOf(rows)})`.as<'start'>(
    sql.ref('start'),
  );
};

const updateStarts = compiled((db, input: { rows: unknown[][]; now: number }, dialect) =>
  db
    .updateTable('jobs')
    .from(toStartTable(dialect, input.rows))
    .set((is) => ({
      status: 'running',
      runner_id: is.ref('start.runner_id'),
      system_id: is.ref('start.system_id'),
      token_hash: is.ref('start.token_hash'),
      timeout: is.ref('start.timeout'),
      cancels_gracefully: is.ref('start.cancels_gracefully'),
      started_at: input.now,
      updated_at: input.now,
    }))
    .whereRef('jobs.id', '=', 'start.id')
    .returning('jobs.id')
    .compile(),
);

const requireOne = ([row]: Job[]): Job => {
  if (row === undefined) throw new Error('a job row disappeared while locked');
  return row;
};

/** Starts all jobs in one statement. Updates the given objects and returns them in the same order. */
export const updateStartedRows = async (
  tx: Tx,
  starting: readonly { job: Job; start: Start }[],
): Promise<Job[]> => {
  const rows = starting.map(({ job: { id }, start }) => [
    id,
    start.runner_id,
    start.system_id,
    start.token_hash,
    start.timeout,
    start.cancels_gracefully ?? 0,
  ]);
  const { db, now } = tx;
  const changed = await updateStarts(db, { rows, now });
  if (changed.length !== rows.length) throw new Error('a job row disappeared while locked');
  const changes = { status: 'running', started_at: now, updated_at: now } as const;
  collectJobs(
    tx,
    starting.map(({ job }) => job),
  );
  // Not copied: the objects are large and this runs for every assigned job.
  return starting.map(({ job, start }) => Object.assign(job, start, changes));
};

export type End = Pick<Job, 'status' | 'failure_reason' | 'exit_code' | 'coverage'>;

const updateEnd = compiled((db, input: End & RowUpdate & { finished_at: number }) =>
  db
    .updateTable('jobs')
    .set({
      status: input.status,
      failure_reason: input.failure_reason,
      exit_code: input.exit_code,
      coverage: input.coverage,
      token_hash: null,
      finished_at: input.finished_at,
      updated_at: input.now,
    })
    .where('id', '=', input.id)
    .returningAll()
    .compile(),
);

/** Result of a successful job, as its runner reported it. */
export type Success = {
  exit_code: number | null;
  /** Hundredths of a percent. */
  coverage: number | null;
  trace: { size: number; crc: number | null } | null;
};

type SuccessRow = {
  id: number;
  exit_code: number | null;
  coverage: number | null;
  trace_size: number | null;
  trace_crc: number | null;
};

const toSuccessTable = (dialect: SqlDialect, rows: readonly (readonly unknown[])[]) => {
  const cells = (['id', 'exit_code', 'coverage', 'trace_size', 'trace_crc'] as const).map((name, at) =>
    toColumn(name, at, 'bigint'),
  );
  return sql<SuccessRow>`(select ${sql.join(cells)} from ${dialect.eachOf(rows)})`.as<'results'>(
    sql.ref('results'),
  );
};

const updateSuccesses = compiled((db, input: { rows: unknown[][]; now: number }, dialect) =>
  db
    .updateTable('jobs')
    .from(toSuccessTable(dialect, input.rows))
    .set((is) => ({
      status: 'success',
      failure_reason: null,
      exit_code: is.ref('results.exit_code'),
      coverage: is.ref('results.coverage'),
      trace_size: is.ref('results.trace_size'),
      trace_crc: is.ref('results.trace_crc'),
      token_hash: null,
      finished_at: input.now,
      updated_at: input.now,
    }))
    .whereRef('jobs.id', '=', 'results.id')
    .returning('jobs.id')
    .compile(),
);

/** Marks all jobs as successful in one statement. */
export const updateSucceededRows = async (
  tx: Tx,
  project_id: number,
  all: readonly { id: number; success: Success }[],
): Promise<void> => {
  const { db, now } = tx;
  collectJobs(
    tx,
    all.map(({ id }) => ({ id, project_id })),
  );
  const rows = all.map(({ id, success: { exit_code, coverage, trace } }) => [
    id,
    exit_code,
    coverage,
    trace?.size ?? null,
    trace?.crc ?? null,
  ]);
  const changed = await updateSuccesses(db, { rows, now });
  if (changed.length !== rows.length) throw new Error('a job row disappeared while locked');
};

/** Ends a job. A `canceling` job already has `finished_at`, which is kept. */
export const updateEndedRow = async (tx: Tx, job: Job, end: End): Promise<Job> => {
  const { db, now } = tx;
  const { id, finished_at } = job;
  collectJobs(tx, [job]);
  return requireOne(await updateEnd(db, { ...end, id, now, finished_at: finished_at ?? now }));
};
