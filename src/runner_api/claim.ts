/** Jobs given to runners: the database decides whose they are. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import { hashJobToken, newJobToken } from '../jobs/token.ts';
import { startLocked } from '../pipelines/job_states.ts';
import { type Job, type Pipeline, lockPipeline } from '../pipelines/store.ts';
import { type Together, together } from '../pipelines/together.ts';
import { type ProjectFacts, type Taker, mayTake } from './matching.ts';

/** Jobs, and what says of them which runners may have them. */
const standings = compiled((db, given: { ids: number[] }, words) =>
  db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .innerJoin('stages', 'stages.id', 'jobs.stage_id')
    .selectAll('jobs')
    .select([
      'stages.status as stage_status',
      'projects.namespace_id',
      'projects.shared_runners_enabled',
      'projects.deleted_at',
      'projects.archived',
      'projects.builds_access_level',
      'projects.repository_access_level',
      'projects.build_timeout',
    ])
    .where(words.oneOf('jobs.id', given.ids))
    .compile(),
);

const activeRunners = compiled((db, given: { ids: number[] }, words) =>
  db.selectFrom('runners').select('id').where(words.oneOf('id', given.ids)).where('active', '=', 1).compile(),
);

type Standing = Awaited<ReturnType<typeof standings>>[number];

export type Claimed = {
  job: Job;
  pipeline: Pipeline;
  /** When the pipeline was changed last before that. */
  was: number;
  token: string;
  token_hash: string;
  /** Shared by those that were claimed in one transaction. */
  together: Together;
};

/** `taken`: it is no longer to be had; `resting`: the runner is paused, or gone; `other`: it is for others. */
export type Unclaimed = { why: 'taken' | 'resting' } | { why: 'other'; project: ProjectFacts };

/** A runner wants this job. */
export type Claim = { taker: Taker; job_id: number };

const taken: Unclaimed = { why: 'taken' };

const refusalOf = (taker: Taker, row: Standing, active: ReadonlySet<number>): Unclaimed | null => {
  if (row.status !== 'pending' || row.deleted_at !== null || row.archived === 1) return taken;
  if (row.builds_access_level === 'disabled' || row.repository_access_level === 'disabled') return taken;
  if (!active.has(taker.id)) return { why: 'resting' };
  const { project_id: id, namespace_id, shared_runners_enabled } = row;
  const project: ProjectFacts = { id, namespace_id, shared_runners_enabled };
  const tags = JSON.parse(row.tag_list) as string[];
  return mayTake(taker, { project, protected: row.protected, tags }) ? null : { why: 'other', project };
};

type Known = { rows: Map<number, Standing>; active: ReadonlySet<number> };

const knownOf = async (tx: Tx, claims: readonly Claim[]): Promise<Known> => {
  const rows = await standings(tx.db, { ids: claims.map(({ job_id }) => job_id) });
  const runners = await activeRunners(tx.db, { ids: [...new Set(claims.map(({ taker }) => taker.id))] });
  return { rows: new Map(rows.map((row) => [row.id, row])), active: new Set(runners.map(({ id }) => id)) };
};

const startOf = (taker: Taker, row: Standing, token: string) => ({
  runner_id: taker.id,
  ...taker.machine,
  token_hash: hashJobToken(token),
  timeout: Math.min(row.timeout ?? row.build_timeout, taker.maximum_timeout ?? Infinity),
});

/** Claims on jobs of one pipeline, in their order. Answers in the same. */
export const claimAll = async (
  tx: Tx,
  random: Platform['random'],
  pipeline_id: number,
  claims: readonly Claim[],
): Promise<(Claimed | Unclaimed)[]> => {
  // The lock first: what is read behind it is as it stays.
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return claims.map(() => taken);
  const was = pipeline.updated_at;
  const { rows, active } = await knownOf(tx, claims);
  const judged = claims.map(({ taker, job_id }) => {
    const row = rows.get(job_id);
    const refusal = row === undefined ? taken : refusalOf(taker, row, active);
    if (row === undefined || refusal !== null) return { refusal };
    rows.delete(job_id); // it is this one's
    const token = newJobToken(random);
    return { job: row, stage_status: row.stage_status, token, start: startOf(taker, row, token) };
  });
  const started = await startLocked(
    tx,
    pipeline,
    judged.flatMap((one) => (one.job === undefined ? [] : [one])),
  );
  const all = together([...started.keys()]);
  return judged.map(({ job, token, start, refusal }) => {
    const now = job === undefined ? undefined : started.get(job.id);
    if (now === undefined || token === undefined) return refusal ?? taken;
    return { job: now, pipeline, was, token, token_hash: start.token_hash, together: all };
  });
};
