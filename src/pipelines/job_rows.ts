/** What starts and ends change of a job's row: queries of every job, made once. */
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { Job } from './store.ts';

export type Start = {
  runner_id: number;
  system_id: string | null;
  token_hash: string;
  /** Seconds. */
  timeout: number;
};

type At = { id: number; now: number };

const startUpdate = compiled((db, given: Start & At) =>
  db
    .updateTable('jobs')
    .set({
      status: 'running',
      runner_id: given.runner_id,
      system_id: given.system_id,
      token_hash: given.token_hash,
      timeout: given.timeout,
      started_at: given.now,
      updated_at: given.now,
    })
    .where('id', '=', given.id)
    .returningAll()
    .compile(),
);

const only = ([row]: Job[]): Job => {
  if (row === undefined) throw new Error('a job is gone under its lock');
  return row;
};

export const startRow = async ({ db, now }: Tx, { id }: Job, start: Start): Promise<Job> =>
  only(await startUpdate(db, { ...start, id, now }));

export type End = Pick<Job, 'status' | 'failure_reason' | 'exit_code' | 'coverage'>;

const endUpdate = compiled((db, given: End & At & { finished_at: number }) =>
  db
    .updateTable('jobs')
    .set({
      status: given.status,
      failure_reason: given.failure_reason,
      exit_code: given.exit_code,
      coverage: given.coverage,
      token_hash: null,
      finished_at: given.finished_at,
      updated_at: given.now,
    })
    .where('id', '=', given.id)
    .returningAll()
    .compile(),
);

/** One that is being cancelled has its time of end already. */
export const endRow = async ({ db, now }: Tx, { id, finished_at }: Job, end: End): Promise<Job> =>
  only(await endUpdate(db, { ...end, id, now, finished_at: finished_at ?? now }));
