/** How many pipelines and jobs one may have: nobody is to fill the queue that all share. */
import type { Config } from '../config.ts';
import type { Reader } from '../db/open.ts';
import { activeStatuses } from '../job_statuses.ts';

type Wanted = { project: { id: number }; sha: string; user_id: number | null };

const minute = 60_000;
const tooMany = 'Too many pipelines created in the last minute. Try again later.';
const tooActive = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.';

/** Why he may have no more pipelines of this commit yet; null: he may. */
export const paceRefusal = async (
  db: Reader,
  { pipeline_limit: most }: Config,
  { project, sha, user_id }: Wanted,
  now: number,
): Promise<string | null> => {
  if (most === 0) return null;
  const made = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('user_id', user_id === null ? 'is' : '=', user_id)
    .where('created_at', '>', now - minute)
    .limit(most)
    .execute();
  return made.length < most ? null : tooMany;
};

/** Why the project may have no more jobs yet; null: it may. */
export const activityRefusal = async (
  db: Reader,
  { active_jobs_limit: most }: Config,
  projectId: number,
  more: number,
): Promise<string | null> => {
  if (most === 0 || more === 0) return null;
  const { count } = await db
    .selectFrom((from) =>
      from
        .selectFrom('jobs')
        .select('id')
        .where('project_id', '=', projectId)
        .where('status', 'in', activeStatuses)
        .limit(most)
        .as('some'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count + more > most ? tooActive : null;
};
