/** Claims jobs for runners in the database, which decides between processes. */
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { hashJobToken, newJobToken } from '../../jobs/token.ts';
import { startLockedJobs } from '../../pipelines/processing/job_transitions.ts';
import { type Job, type Pipeline, lockPipeline } from '../../pipelines/pipeline_rows.ts';
import { type SharedQueries, shareQueries } from '../../pipelines/shared_queries.ts';
import { type ProjectFacts, type RequestingRunner, canTake } from './match_runners.ts';

/** Loads jobs with the facts that decide which runners may take them. */
const loadStandings = compiled((db, input: { ids: number[] }, dialect) =>
  db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .innerJoin('stages', 'stages.id', 'jobs.stage_id')
    .selectAll('jobs')
    .select([
      'stages.status as stage_status',
      'projects.namespace_id',
      'projects.shared_runners_enabled',
      'projects.group_runners_enabled',
      'projects.deleted_at',
      'projects.archived',
      'projects.builds_access_level',
      'projects.repository_access_level',
      'projects.build_timeout',
    ])
    .where(dialect.oneOf('jobs.id', input.ids))
    .compile(),
);

const activeRunners = compiled((db, input: { ids: number[] }, dialect) =>
  db
    .selectFrom('runners')
    .select('id')
    .where(dialect.oneOf('id', input.ids))
    .where('active', '=', 1)
    .compile(),
);

type Standing = Awaited<ReturnType<typeof loadStandings>>[number];

export type Claimed = {
  job: Job;
  pipeline: Pipeline;
  /** When the pipeline was last changed before the claim. */
  was: number;
  token: string;
  token_hash: string;
  /** Queries shared by the jobs claimed in one transaction. */
  queries: SharedQueries;
};

/**
 * `taken`: the job is no longer pending; `resting`: the runner is paused or deleted; `other`: the runner may not take
 * it.
 */
export type Unclaimed = { why: 'taken' | 'resting' } | { why: 'other'; project: ProjectFacts };

/** A runner's claim on a job. */
export type Claim = { taker: RequestingRunner; job_id: number };

const taken: Unclaimed = { why: 'taken' };

const getRefusal = (
  taker: RequestingRunner,
  row: Standing,
  active: ReadonlySet<number>,
): Unclaimed | null => {
  if (row.status !== 'pending' || row.deleted_at !== null || row.archived === 1) return taken;
  if (row.builds_access_level === 'disabled' || row.repository_access_level === 'disabled') return taken;
  if (!active.has(taker.id)) return { why: 'resting' };
  const { project_id: id, namespace_id, shared_runners_enabled, group_runners_enabled } = row;
  const project: ProjectFacts = { id, namespace_id, shared_runners_enabled, group_runners_enabled };
  const tags = JSON.parse(row.tag_list) as string[];
  return canTake(taker, { project, protected: row.protected, tags }) ? null : { why: 'other', project };
};

type ClaimFacts = { rows: Map<number, Standing>; active: ReadonlySet<number> };

const loadClaimFacts = async (tx: Tx, claims: readonly Claim[]): Promise<ClaimFacts> => {
  const rows = await loadStandings(tx.db, { ids: claims.map(({ job_id }) => job_id) });
  const runners = await activeRunners(tx.db, { ids: [...new Set(claims.map(({ taker }) => taker.id))] });
  return { rows: new Map(rows.map((row) => [row.id, row])), active: new Set(runners.map(({ id }) => id)) };
};

const startJob = (taker: RequestingRunner, row: Standing, token: string) => ({
  runner_id: taker.id,
  ...taker.machine,
  token_hash: hashJobToken(token),
  timeout: Math.min(row.timeout ?? row.build_timeout, taker.maximum_timeout ?? Infinity),
});

/** Handles claims on jobs of one pipeline in order. Returns the outcomes in the same order. */
export const claimAll = async (
  tx: Tx,
  random: Platform['random'],
  pipeline_id: number,
  claims: readonly Claim[],
): Promise<(Claimed | Unclaimed)[]> => {
  // Lock first, so that the rows read next cannot change.
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return claims.map(() => taken);
  const was = pipeline.updated_at;
  const { rows, active } = await loadClaimFacts(tx, claims);
  const judgeClaims = claims.map(({ taker, job_id }) => {
    const row = rows.get(job_id);
    const refusal = row === undefined ? taken : getRefusal(taker, row, active);
    if (row === undefined || refusal !== null) return { refusal };
    rows.delete(job_id); // each job is claimed once
    const token = newJobToken(random);
    return { job: row, stage_status: row.stage_status, token, start: startJob(taker, row, token) };
  });
  const started = await startLockedJobs(
    tx,
    pipeline,
    judgeClaims.flatMap((one) => (one.job === undefined ? [] : [one])),
  );
  const queries = shareQueries([...started.keys()]);
  return judgeClaims.map(({ job, token, start, refusal }) => {
    const now = job === undefined ? undefined : started.get(job.id);
    if (now === undefined || token === undefined) return refusal ?? taken;
    return { job: now, pipeline, was, token, token_hash: start.token_hash, queries };
  });
};
