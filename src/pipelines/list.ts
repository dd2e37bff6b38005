/** Lists of pipelines. */
import type { ExpressionBuilder } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import type { JobStatus, PipelineSource } from '../db/schema_ci.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { type PipelineRow, statusesShownAs } from '../repository/pipeline_brief.ts';

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

type Sorted = { order_by: (typeof orders)[number]; sort: 'asc' | 'desc' };

const base = (db: Reader, projectId: number) =>
  db.selectFrom('pipelines').where('pipelines.project_id', '=', projectId);

type Query = ReturnType<typeof base>;

/** As they are shown; none that never ran. */
const finished = (['success', 'failed', 'canceled'] as const).flatMap((shown) => statusesShownAs(shown));

const statusesOf = (status: NonNullable<Filters['status']>): JobStatus[] =>
  status === 'preparing' ? [] : statusesShownAs(status);

const within = (query: Query, scope: Filters['scope']): Query => {
  if (scope === 'running' || scope === 'pending') return query.where('status', '=', scope);
  if (scope === 'finished') return query.where('status', 'in', finished);
  if (scope === undefined) return query;
  const tag = scope === 'tags' ? 1 : 0;
  // The newest of each.
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

const byUser = (query: Query, username: string): Query =>
  query.where('pipelines.user_id', 'in', (db) =>
    db.selectFrom('users').select('users.id').where('username', '=', username),
  );

const byTimes = (query: Query, given: Filters): Query => {
  let found = query;
  const { updated_after, updated_before, created_after, created_before } = given;
  if (updated_after !== undefined) found = found.where('updated_at', '>', updated_after);
  if (updated_before !== undefined) found = found.where('updated_at', '<', updated_before);
  if (created_after !== undefined) found = found.where('created_at', '>', created_after);
  if (created_before !== undefined) found = found.where('created_at', '<', created_before);
  return found;
};

const filtered = (query: Query, given: Filters): Query => {
  const { scope, status, source, ref, sha, name, yaml_errors, username } = given;
  let found = byTimes(within(query, scope), given);
  if (status !== undefined) found = found.where('status', 'in', statusesOf(status));
  // Parts of others are shown to those who ask for them.
  found =
    source === undefined
      ? found.where('source', '!=', 'parent_pipeline')
      : found.where('source', '=', source);
  if (ref !== undefined) found = found.where('ref', '=', ref);
  if (sha !== undefined) found = found.where('sha', '=', sha);
  if (name !== undefined) found = found.where('name', '=', name);
  if (yaml_errors !== undefined) found = found.where('yaml_errors', yaml_errors ? 'is not' : 'is', null);
  return username === undefined ? found : byUser(found, username);
};

const pageOf = async (
  query: Query,
  { order_by, sort }: Sorted,
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
  given: Filters & Sorted,
  page: PageRequest,
): Promise<Page<PipelineRow>> => await pageOf(filtered(base(db, projectId), given), given, page);

/** The newest of a commit on a ref; null: there is none. */
export const latestPipeline = async (
  db: Reader,
  projectId: number,
  { ref, sha, tag }: { ref: string; sha: string; tag: 0 | 1 },
): Promise<PipelineRow | null> =>
  (await base(db, projectId)
    .selectAll()
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null;

type Request = { id: number; source_branch: string };

const broughtBy = (db: ExpressionBuilder<Schema, 'pipelines'>, id: number) =>
  db
    .selectFrom('merge_request_commits')
    .innerJoin('merge_request_diffs', 'merge_request_diffs.id', 'merge_request_commits.diff_id')
    .select('merge_request_commits.sha')
    .where('merge_request_diffs.merge_request_id', '=', id);

/** Those of a merge request itself, and those of its branch whose commits it brings; the newest first. */
export const listOfRequest = async (
  db: Reader,
  sourceProjectId: number,
  { id, source_branch }: Request,
  page: PageRequest,
): Promise<Page<PipelineRow>> => {
  const whole = base(db, sourceProjectId).where('source', '!=', 'parent_pipeline');
  const query = whole.where((is) =>
    is.or([
      is('merge_request_id', '=', id),
      is.and([
        is('ref', '=', source_branch),
        is('tag', '=', 0),
        is('source', '!=', 'merge_request_event'),
        is('sha', 'in', broughtBy(is, id)),
      ]),
    ]),
  );
  return await pageOf(query, { order_by: 'id', sort: 'desc' }, page);
};
