/** Lists the statuses of a commit: external statuses and jobs of its pipelines. */
import { type AliasedExpression, sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { ListedStatus } from './json.ts';

export type StatusFilter = {
  project_id: number;
  sha: Oid;
  ref?: string | undefined;
  stage?: string | undefined;
  name?: string | undefined;
  pipeline_id?: number | undefined;
  /** Includes statuses that a later one of the same name replaced. */
  all: boolean;
};

/** The stage of external statuses, after the stages of every pipeline. */
export const externalStage = 'external';

const selectExternalStatuses = (db: Reader, filter: StatusFilter, withPipelines: boolean) => {
  let query = db
    .selectFrom('commit_statuses')
    .select(['id', 'ref', 'name', 'status', 'target_url', 'description', 'allow_failure', 'coverage'])
    .select(['author_id', 'created_at', 'started_at', 'finished_at'])
    .select([withPipelines ? 'pipeline_id' : sql<null>`null`.as('pipeline_id'), sql<0 | 1>`0`.as('of_job')])
    .where('project_id', '=', filter.project_id)
    .where('sha', '=', filter.sha);
  if (filter.ref !== undefined) query = query.where('ref', '=', filter.ref);
  if (filter.name !== undefined) query = query.where('name', '=', filter.name);
  if (filter.pipeline_id !== undefined) query = query.where('pipeline_id', '=', filter.pipeline_id);
  if (filter.all) return query;
  if (filter.pipeline_id !== undefined) return query.where('retried', '=', 0);
  return query.where(
    sql<boolean>`not exists (select 1 from commit_statuses as later
      where later.project_id = commit_statuses.project_id and later.sha = commit_statuses.sha
        and later.ref = commit_statuses.ref and later.name = commit_statuses.name
        and later.id > commit_statuses.id)`,
  );
};

/**
 * Selects jobs. A child pipeline appears as the job that started it. A job being canceled counts as finished at the
 * cancellation.
 */
const selectJobStatuses = (db: Reader, filter: StatusFilter) => {
  let query = db
    .selectFrom('pipelines')
    .innerJoin('jobs', 'jobs.pipeline_id', 'pipelines.id')
    .select(['jobs.id', 'jobs.ref', 'jobs.name', 'jobs.status'])
    .select([sql<string | null>`null`.as('target_url'), sql<string | null>`null`.as('description')])
    .select(['jobs.allow_failure', 'jobs.coverage', 'jobs.user_id as author_id'])
    .select(['jobs.created_at', 'jobs.started_at'])
    .select(
      sql<
        number | null
      >`case jobs.status when 'canceling' then jobs.cancelled_at else jobs.finished_at end`.as('finished_at'),
    )
    .select(['jobs.pipeline_id', sql<0 | 1>`1`.as('of_job')])
    .where('pipelines.project_id', '=', filter.project_id)
    .where('pipelines.sha', '=', filter.sha)
    .where('pipelines.source', '<>', 'parent_pipeline');
  if (filter.ref !== undefined) query = query.where('jobs.ref', '=', filter.ref);
  if (filter.name !== undefined) query = query.where('jobs.name', '=', filter.name);
  if (filter.stage !== undefined) query = query.where('jobs.stage', '=', filter.stage);
  if (filter.pipeline_id !== undefined) query = query.where('pipelines.id', '=', filter.pipeline_id);
  return filter.all ? query : query.where('jobs.retried', '=', 0);
};

/** Selects external statuses and jobs; null if the filter excludes both. */
const selectStatuses = (
  db: Reader,
  filter: StatusFilter,
  withJobs: boolean,
): AliasedExpression<ListedStatus, 'found'> | null => {
  const withOthers = (filter.stage ?? externalStage) === externalStage;
  const isAny = withOthers && (withJobs || filter.pipeline_id === undefined);
  const others = isAny ? selectExternalStatuses(db, filter, withJobs).$castTo<ListedStatus>() : null;
  if (!withJobs) return others?.as('found') ?? null;
  const jobStatuses = selectJobStatuses(db, filter).$castTo<ListedStatus>();
  return (others === null ? jobStatuses : jobStatuses.unionAll(others)).as('found');
};

/** @param withJobs whether the caller may read pipelines */
export const listStatuses = async (
  db: Reader,
  filter: StatusFilter,
  { limit, offset, withJobs }: PageRequest & { withJobs: boolean },
): Promise<Page<ListedStatus>> => {
  const statuses = selectStatuses(db, filter, withJobs);
  if (statuses === null) return { items: [], total: 0 };
  const query = db.selectFrom(statuses);
  const [{ total }, items] = await Promise.all([
    query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query
      .selectAll()
      .orderBy('created_at')
      .orderBy('of_job', 'desc')
      .orderBy('id')
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { items, total };
};
