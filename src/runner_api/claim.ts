/** A job given to a runner: the database decides whose it is. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { hashJobToken, newJobToken } from '../jobs/token.ts';
import { startJob } from '../pipelines/job_states.ts';
import type { Job } from '../pipelines/store.ts';
import { type ProjectFacts, type Taker, mayTake } from './matching.ts';

const standing = compiled((db, given: { job_id: number; runner_id: number }) =>
  db
    .selectFrom('pending_jobs')
    .innerJoin('jobs', 'jobs.id', 'pending_jobs.job_id')
    .innerJoin('projects', 'projects.id', 'pending_jobs.project_id')
    .select([
      'pending_jobs.protected',
      'pending_jobs.tag_list',
      'jobs.timeout',
      'projects.id',
      'projects.namespace_id',
      'projects.shared_runners_enabled',
      'projects.deleted_at',
      'projects.archived',
      'projects.builds_access_level',
      'projects.build_timeout',
    ])
    .select((is) =>
      is
        .selectFrom('runners')
        .select('runners.active')
        .where('runners.id', '=', given.runner_id)
        .as('active'),
    )
    .where('pending_jobs.job_id', '=', given.job_id)
    .compile(),
);

export type Claimed = { job: Job; token: string };

/** `taken`: it is no longer to be had; `resting`: the runner is paused, or gone; `other`: it is for others. */
export type Unclaimed = { why: 'taken' | 'resting' } | { why: 'other'; project: ProjectFacts };

export const claim = async (
  { store, random }: Pick<Platform, 'store' | 'random'>,
  taker: Taker,
  job_id: number,
): Promise<Claimed | Unclaimed> => {
  const token = newJobToken(random);
  const token_hash = hashJobToken(token);
  return await store.write(async (tx) => {
    const [row] = await standing(tx.db, { job_id, runner_id: taker.id });
    if (row === undefined || row.deleted_at !== null || row.archived === 1) return { why: 'taken' };
    if (row.builds_access_level === 'disabled') return { why: 'taken' };
    if (row.active !== 1) return { why: 'resting' };
    const { id, namespace_id, shared_runners_enabled } = row;
    const project: ProjectFacts = { id, namespace_id, shared_runners_enabled };
    const tags = JSON.parse(row.tag_list) as string[];
    if (!mayTake(taker, { project, protected: row.protected, tags })) return { why: 'other', project };
    const timeout = Math.min(row.timeout ?? row.build_timeout, taker.maximum_timeout ?? Infinity);
    const { id: runner_id, system_id } = taker;
    const job = await startJob(tx, job_id, { runner_id, system_id, token_hash, timeout });
    return job === null ? { why: 'taken' } : { job, token };
  });
};
