/** Limits on new pipelines and active jobs, so that one project cannot fill the shared queue. */
import type { Config } from '../../../platform/config/fields.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { activeStatuses } from '../../../core/job_statuses.ts';
import { minuteMilliseconds } from '../../../platform/time.ts';

type PipelineOrigin = { project: { id: number }; sha: string; user_id: number | null };

const rateLimitText = 'Too many pipelines created in the last minute. Try again later.';
const activeJobsText = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.';

/** Returns why the user exceeds the pipelines per minute of this commit, or null. */
export const getRateLimitRefusal = async (
  db: Reader,
  { pipeline_limit: limit }: Config,
  { project, sha, user_id }: PipelineOrigin,
  now: number,
): Promise<string | null> => {
  if (limit === 0) return null;
  const recent = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('user_id', user_id === null ? 'is' : '=', user_id)
    .where('created_at', '>', now - minuteMilliseconds)
    // Later ones are older: the clock was set back since.
    .where('created_at', '<=', now)
    .limit(limit)
    .execute();
  return recent.length < limit ? null : rateLimitText;
};

/** Returns why the project exceeds its active jobs, or null. */
export const getActiveJobsRefusal = async (
  db: Reader,
  { active_jobs_limit: limit }: Config,
  projectId: number,
  newJobs: number,
): Promise<string | null> => {
  if (limit === 0 || newJobs === 0) return null;
  const { count } = await db
    .selectFrom((from) =>
      from
        .selectFrom('jobs')
        .select('id')
        .where('project_id', '=', projectId)
        .where('status', 'in', activeStatuses)
        .limit(limit)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count + newJobs > limit ? activeJobsText : null;
};
