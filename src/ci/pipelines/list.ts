/** Lists pipelines of a project or merge request. */
import type { ExpressionBuilder } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Schema } from '../../platform/db/schema/database.ts';
import type { JobStatus, PipelineSource } from '../../platform/db/schema/ci.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { type PipelineRow, statusesShownAs } from '../../code/repository/statuses/pipeline_summary.ts';

export const statuses = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const;

export const scopes = ['running', 'pending', 'finished', 'branches', 'tags'] as const;

export const sources = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'merge_request_event',
  'pipeline',
  'parent_pipeline',
  'external',
] as const satisfies readonly PipelineSource[];

export const orders = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const;

export type Filters = {
  scope?: (typeof scopes)[number] | undefined;
  status?: (typeof statuses)[number] | undefined;
  source?: PipelineSource | undefined;
  ref?: string | undefined;
  sha?: string | undefined;
  name?: string | undefined;
  yaml_errors?: boolean | undefined;
  username?: string | undefined;
  updated_after?: number | undefined;
  updated_before?: number | undefined;
  created_after?: number | undefined;
  created_before?: number | undefined;
};

type SortOrder = { order_by: (typeof orders)[number]; sort: 'asc' | 'desc' };

const selectOfProject = (db: Reader, projectId: number) =>
  db.selectFrom('pipelines').where('pipelines.project_id', '=', projectId);

type Query = ReturnType<typeof selectOfProject>;

/** Statuses of `scope=finished`; skipped pipelines never ran and are excluded. */
const finishedStatuses = (['success', 'failed', 'canceled'] as const).flatMap((shown) =>
  statusesShownAs(shown),
);

const toStatuses = (status: NonNullable<Filters['status']>): JobStatus[] =>
  status === 'preparing' ? [] : statusesShownAs(status);

const filterByScope = (query: Query, scope: Filters['scope']): Query => {
  if (scope === 'running' || scope === 'pending') return query.where('status', '=', scope);
  if (scope === 'finished') return query.where('status', 'in', finishedStatuses);
  if (scope === undefined) return query;
  const tag = scope === 'tags' ? 1 : 0;
  // The newest pipeline of each ref.
  return query.where('pipelines.id', 'in', (db) =>
    db
      .selectFrom('pipelines as newest')
      .select((is) => is.fn.max('newest.id').as('id'))
      .whereRef('newest.project_id', '=', 'pipelines.project_id')
      .where('newest.tag', '=', tag)
      .where('newest.source', 'not in', ['merge_request_event', 'parent_pipeline'])
      .groupBy('newest.ref'),
  );
};

const filterByUser = (query: Query, username: string): Query =>
  query.where('pipelines.user_id', 'in', (db) =>
    db.selectFrom('users').select('users.id').where('username', '=', username),
  );

const filterByTimes = (query: Query, filters: Filters): Query => {
  let narrowed = query;
  const { updated_after, updated_before, created_after, created_before } = filters;
  if (updated_after !== undefined) narrowed = narrowed.where('updated_at', '>', updated_after);
  if (updated_before !== undefined) narrowed = narrowed.where('updated_at', '<', updated_before);
  if (created_after !== undefined) narrowed = narrowed.where('created_at', '>', created_after);
  if (created_before !== undefined) narrowed = narrowed.where('created_at', '<', created_before);
  return narrowed;
};

const applyFilters = (query: Query, filters: Filters): Query => {
  const { scope, status, source, ref, sha, name, yaml_errors, username } = filters;
  let narrowed = filterByTimes(filterByScope(query, scope), filters);
  if (status !== undefined) narrowed = narrowed.where('status', 'in', toStatuses(status));
  // Child pipelines are listed only with `source=parent_pipeline`.
  narrowed =
    source === undefined
      ? narrowed.where('source', '!=', 'parent_pipeline')
      : narrowed.where('source', '=', source);
  if (ref !== undefined) narrowed = narrowed.where('ref', '=', ref);
  if (sha !== undefined) narrowed = narrowed.where('sha', '=', sha);
  if (name !== undefined) narrowed = narrowed.where('name', '=', name);
  if (yaml_errors !== undefined)
    narrowed = narrowed.where('yaml_errors', yaml_errors ? 'is not' : 'is', null);
  return username === undefined ? narrowed : filterByUser(narrowed, username);
};

const loadPage = async (
  query: Query,
  { order_by, sort }: SortOrder,
  { limit, offset }: PageRequest,
): Promise<Page<PipelineRow>> => {
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query
      .selectAll('pipelines')
      .orderBy(`pipelines.${order_by}`, sort)
      .$if(order_by !== 'id', (sorted) => sorted.orderBy('pipelines.id', sort))
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { items, total };
};

export const listPipelines = async (
  db: Reader,
  projectId: number,
  filters: Filters & SortOrder,
  page: PageRequest,
): Promise<Page<PipelineRow>> =>
  await loadPage(applyFilters(selectOfProject(db, projectId), filters), filters, page);

/** Loads the newest pipeline of a commit on a ref; null if there is none. */
export const latestPipeline = async (
  db: Reader,
  projectId: number,
  { ref, sha, tag }: { ref: string; sha: string; tag: 0 | 1 },
): Promise<PipelineRow | null> =>
  (await selectOfProject(db, projectId)
    .selectAll()
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null;

/** Loads the newest successful pipeline of a branch; null if there is none. */
export const latestSuccess = async (
  db: Reader,
  projectId: number,
  branch: string,
): Promise<PipelineRow | null> =>
  (await selectOfProject(db, projectId)
    .selectAll()
    .where('ref', '=', branch)
    .where('tag', '=', 0)
    .where('status', '=', 'success')
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null;

type MergeRequestKey = { id: number; source_branch: string };

const selectCommitShas = (db: ExpressionBuilder<Schema, 'pipelines'>, id: number) =>
  db
    .selectFrom('merge_request_commits')
    .innerJoin('merge_request_diffs', 'merge_request_diffs.id', 'merge_request_commits.diff_id')
    .select('merge_request_commits.sha')
    .where('merge_request_diffs.merge_request_id', '=', id);

/** Selects a merge request's own pipelines and pipelines of its branch for its commits. */
const selectOfMergeRequest = (
  db: Reader,
  sourceProjectId: number,
  { id, source_branch }: MergeRequestKey,
) => {
  const candidates = selectOfProject(db, sourceProjectId).where('source', '!=', 'parent_pipeline');
  return candidates.where((is) =>
    is.or([
      is('merge_request_id', '=', id),
      is.and([
        is('ref', '=', source_branch),
        is('tag', '=', 0),
        is('source', '!=', 'merge_request_event'),
        is('sha', 'in', selectCommitShas(is, id)),
      ]),
    ]),
  );
};

/** Lists the pipelines of a merge request, newest first. */
export const listMergeRequestPipelines = async (
  db: Reader,
  sourceProjectId: number,
  key: MergeRequestKey,
  page: PageRequest,
): Promise<Page<PipelineRow>> =>
  await loadPage(selectOfMergeRequest(db, sourceProjectId, key), { order_by: 'id', sort: 'desc' }, page);

const pipelinesCount = compiled(
  (db, { project_id, id, source_branch }: MergeRequestKey & { project_id: number }) =>
    selectOfMergeRequest(db, project_id, { id, source_branch })
      .select((is) => is.fn.countAll<number>().as('total'))
      .compile(),
);

export const countMergeRequestPipelines = async (
  db: Reader,
  sourceProjectId: number,
  { id, source_branch }: MergeRequestKey,
): Promise<number> =>
  (await pipelinesCount(db, { project_id: sourceProjectId, id, source_branch }))[0]?.total ?? 0;
