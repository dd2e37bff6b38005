/** What is known of how it stands with a commit: the word of other systems, and the jobs of its pipelines. */
import { type AliasedExpression, sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { Oid } from '../git/protocol_types.ts';
import type { Page, PageRequest } from '../http/page.ts';
import type { ListedStatus } from './status_json.ts';

export type StatusFilter = {
  project_id: number;
  sha: Oid;
  ref?: string | undefined;
  stage?: string | undefined;
  name?: string | undefined;
  pipeline_id?: number | undefined;
  /** Also what another of the same name has followed. */
  all: boolean;
};

/** The stage of what other systems say: it stands behind those of every pipeline. */
export const externalStage = 'external';

const said = (db: Reader, wanted: StatusFilter, withPipelines: boolean) => {
  let query = db
    .selectFrom('commit_statuses')
    .select(['id', 'ref', 'name', 'status', 'target_url', 'description', 'allow_failure', 'coverage'])
    .select(['author_id', 'created_at', 'started_at', 'finished_at'])
    .select([withPipelines ? 'pipeline_id' : sql<null>`null`.as('pipeline_id'), sql<0 | 1>`0`.as('of_job')])
    .where('project_id', '=', wanted.project_id)
    .where('sha', '=', wanted.sha);
  if (wanted.ref !== undefined) query = query.where('ref', '=', wanted.ref);
  if (wanted.name !== undefined) query = query.where('name', '=', wanted.name);
  if (wanted.pipeline_id !== undefined) query = query.where('pipeline_id', '=', wanted.pipeline_id);
  if (wanted.all) return query;
  if (wanted.pipeline_id !== undefined) return query.where('retried', '=', 0);
  return query.where(
    sql<boolean>`not exists (select 1 from commit_statuses as later
      where later.project_id = commit_statuses.project_id and later.sha = commit_statuses.sha
        and later.ref = commit_statuses.ref and later.name = commit_statuses.name
        and later.id > commit_statuses.id)`,
  );
};

/** A child pipeline shows in the job that started it. One that is being cancelled ended when it was told to. */
const jobs = (db: Reader, wanted: StatusFilter) => {
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
    .where('pipelines.project_id', '=', wanted.project_id)
    .where('pipelines.sha', '=', wanted.sha)
    .where('pipelines.source', '<>', 'parent_pipeline');
  if (wanted.ref !== undefined) query = query.where('jobs.ref', '=', wanted.ref);
  if (wanted.name !== undefined) query = query.where('jobs.name', '=', wanted.name);
  if (wanted.stage !== undefined) query = query.where('jobs.stage', '=', wanted.stage);
  if (wanted.pipeline_id !== undefined) query = query.where('pipelines.id', '=', wanted.pipeline_id);
  return wanted.all ? query : query.where('jobs.retried', '=', 0);
};

/** null: nothing of what there may be is asked for. */
const matching = (
  db: Reader,
  wanted: StatusFilter,
  withJobs: boolean,
): AliasedExpression<ListedStatus, 'found'> | null => {
  const withOthers = (wanted.stage ?? externalStage) === externalStage;
  const isAny = withOthers && (withJobs || wanted.pipeline_id === undefined);
  const others = isAny ? said(db, wanted, withJobs).$castTo<ListedStatus>() : null;
  if (!withJobs) return others?.as('found') ?? null;
  const all = jobs(db, wanted).$castTo<ListedStatus>();
  return (others === null ? all : all.unionAll(others)).as('found');
};

/** @param withJobs the caller may know of pipelines */
export const listStatuses = async (
  db: Reader,
  wanted: StatusFilter,
  { limit, offset, withJobs }: PageRequest & { withJobs: boolean },
): Promise<Page<ListedStatus>> => {
  const found = matching(db, wanted, withJobs);
  if (found === null) return { items: [], total: 0 };
  const query = db.selectFrom(found);
  const [{ total }, items] = await Promise.all([
    query.select((of) => of.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
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
