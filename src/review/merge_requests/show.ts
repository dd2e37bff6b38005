import { sql } from 'kysely';
import { type Call, requireUser } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import type { JsonText } from '../../platform/http/endpoint.ts';
import { type Version, withMembers } from '../../planning/issuables/lists/json_cache.ts';
import { type Project, findProject, loadProject } from '../../projects/projects/find.ts';
import type { HtmlRenderer } from '../../projects/projects/related/html_renderer.ts';
import { mayMergeInto, loadProtectedBranches } from '../../code/repository/protection/rules.ts';
import { briefPipelineJson } from '../../code/repository/statuses/pipeline_summary.ts';
import { singlePipelineJson } from '../../code/repository/statuses/pipeline_detail.ts';
import { followColumns, follows } from '../../planning/subscriptions/subscriptions.ts';
import { withDetail } from './detailed_merge_status.ts';
import type { LoadedMergeRequest } from './find.ts';
import { loadDivergence } from './merging/divergence.ts';
import { headOrder } from './merging/head_pipeline.ts';
import type { Extras } from './json.ts';
import { type CheckedRequest, checkMergeStatus } from './merging/merge_status.ts';
import { mergeRequestTexts } from './lists/json_cache.ts';

/** Columns for the fields of a single request that depend on the viewer, and for the merge check. */
type Row = Version &
  CheckedRequest & {
    author_id: number;
    deleted_at: number | null;
    /** 1 if the viewer is an assignee. */
    assigned: number | null;
    subscription: number | null;
    participation: number | null;
    /** 1 if a discussion is unresolved. */
    unresolved: number | null;
    /** 1 if a reviewer waits for changes. */
    changes_requested: number | null;
    /** The head pipeline. */
    pipeline_id: number | null;
  };

type RowKey = { project_id: number; iid: number; user_id: number };

const rowByIid = compiled((db, { project_id, iid, user_id }: RowKey) => {
  const here = sql`target_type = 'MergeRequest' and target_id = merge_requests.id`;
  const { subscription, participation } = followColumns(here, sql`${user_id}`);
  return sql<Row>`
    select id, revision, author_id, deleted_at, state, project_id, source_project_id, source_branch, target_branch,
      diff_id, head_sha, merge_status, checked_source_sha, checked_target_sha,
      (select 1 from assignees where ${here} and user_id = ${user_id}) as assigned,
      ${subscription} as subscription, ${participation} as participation,
      (select 1 from notes where ${here} and resolvable = 1 and resolved_at is null limit 1) as unresolved,
      (select 1 from reviewers where ${here} and state = 'requested_changes' limit 1) as changes_requested,
      (select pipelines.id from pipelines where sha = head_sha and pipelines.project_id = source_project_id
        and source <> 'parent_pipeline' and (ref = source_branch or merge_request_id = merge_requests.id)
        order by ${headOrder} limit 1) as pipeline_id
    from merge_requests where project_id = ${project_id} and iid = ${iid}`.compile(db);
});

const statusById = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('merge_requests')
    .select(['id', 'revision', 'merge_status', 'head_sha', 'checked_source_sha', 'checked_target_sha'])
    .where('id', '=', id)
    .compile(),
);

const mayMerge = async (call: Call, project: Project, branch: string): Promise<boolean> =>
  may(call.viewer, 'push_code', project) &&
  mayMergeInto(call.viewer, project, await loadProtectedBranches(call.db, project.id), branch);

/** Checks the merge status and returns the row with the result. */
const withCheckedStatus = async (call: Call, project: Project, row: Row): Promise<Row> => {
  const status = await checkMergeStatus(call.platform, row, project);
  // Other merge methods need the checked commits to detect a required rebase.
  if (status === row.merge_status && project.merge_method === 'merge') return row;
  const [now] = await statusById(call.db, { id: row.id });
  return { ...row, ...now };
};

/** Loads the source project of a request if the caller may see its pipelines. */
const findPipelineProject = async (
  call: Call,
  target: Project,
  sourceId: number | null,
): Promise<Project | null> => {
  if (sourceId === null) return null;
  const source = sourceId === target.id ? target : await loadProject(call.db, sourceId);
  return source !== null && may(call.viewer, 'read_pipeline', source) ? source : null;
};

const noPipeline = { head_pipeline: null, pipeline: null };

/** Returns the head pipeline, if the caller may see it. */
const headPipeline = async (
  call: Call,
  target: Project,
  id: number,
): Promise<Pick<Extras, 'head_pipeline' | 'pipeline'>> => {
  const row = await call.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst();
  const source = row === undefined ? null : await findPipelineProject(call, target, row.project_id);
  if (row === undefined || source === null) return noPipeline;
  const pipeline = briefPipelineJson(row, { baseUrl: call.baseUrl, full_path: source.full_path });
  return { head_pipeline: await singlePipelineJson(call, row, source), pipeline };
};

type Shown = { text: JsonText; extras: Extras; row: Pick<Row, 'id' | 'diff_id'> };

const loadShown = async (call: Call, project: Project, iid: number): Promise<Shown> => {
  const user_id = requireUser(call).id;
  const [row] = await rowByIid(call.db, { project_id: project.id, iid, user_id });
  if (row === undefined || row.deleted_at !== null) throw notFound();
  const request = await withCheckedStatus(call, project, row);
  const [kept] = await mergeRequestTexts(call, [request]);
  if (kept === undefined) throw notFound();
  const can_merge = await mayMerge(call, project, row.target_branch);
  const text = await withDetail(call.db, kept, {
    project,
    request,
    // A user who may merge sees the reason, because merging would reveal it.
    seesPipelines: async () =>
      can_merge || (await findPipelineProject(call, project, row.source_project_id)) !== null,
  });
  const subscribed = follows(row, row.author_id === user_id || row.assigned === 1);
  const blocking_discussions_resolved = row.unresolved === null;
  const pipelines =
    row.pipeline_id === null ? noPipeline : await headPipeline(call, project, row.pipeline_id);
  return {
    text,
    extras: { subscribed, user: { can_merge }, blocking_discussions_resolved, ...pipelines },
    row,
  };
};

const joinExtras = ({ text, extras }: Pick<Shown, 'text' | 'extras'>): JsonText => withMembers(text, extras);

/** The JSON of one merge request, and what locates its latest version. */
type ShownMergeRequest = {
  text: JsonText;
  project: Project;
  merge_request: Pick<Row, 'id' | 'diff_id'>;
};

/** Like `showMergeRequest`, with the latest version. */
export const showWithVersion = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<ShownMergeRequest> => {
  const project = await findProject(call, projectId);
  if (!may(call.viewer, 'read_merge_request', project)) throw forbidden();
  const shown = await loadShown(call, project, iid);
  return { text: joinExtras(shown), project, merge_request: shown.row };
};

/** Milliseconds that git may count for an answer. */
const maxCounting = 5_000;

/** Counts the commits of the target branch that the source branch lacks; null if they cannot be counted. */
const countDiverged = async (call: Call, project: Project, id: number): Promise<number | null> => {
  const [checked] = await statusById(call.db, { id });
  if (checked === undefined) return null;
  return (await loadDivergence(call.platform, project, checked, maxCounting))?.behind ?? null;
};

/** Members of a single merge request that are answered on request. */
type Additions = {
  include_diverged_commits_count?: boolean | undefined;
  render_html?: boolean | undefined;
};

const renderHtml = async (html: HtmlRenderer, call: Call, project: Project, text: JsonText) => {
  type Texts = { title: string; description: string | null };
  const { title, description } = JSON.parse(text.bytes.toString('utf8')) as Texts;
  const [titles, descriptions] = await Promise.all([
    html.plain(call, project, [title]),
    html.markdown(call, project, [description ?? '']),
  ]);
  return { title_html: titles[0] ?? '', description_html: descriptions[0] ?? '' };
};

/** Returns the JSON of one merge request; 403 if the caller may read none of the project, 404 if it does not exist. */
export const showMergeRequest = async (
  call: Call,
  { id, iid }: { id: number | string; iid: number },
  { include_diverged_commits_count = false, render_html = false }: Additions,
  html: HtmlRenderer,
): Promise<JsonText> => {
  const { text, project, merge_request } = await showWithVersion(call, id, iid);
  const more = {
    ...(include_diverged_commits_count && {
      diverged_commits_count: await countDiverged(call, project, merge_request.id),
    }),
    ...(render_html && (await renderHtml(html, call, project, text))),
  };
  return Object.keys(more).length === 0 ? text : withMembers(text, more);
};

/** Returns the JSON of a merge request after a read or change, with the additional members `more`. */
export const singleReply = async (
  call: Call,
  { project, target }: Pick<LoadedMergeRequest, 'project' | 'target'>,
  more: object = {},
): Promise<JsonText> => {
  const { text, extras } = await loadShown(call, project, target.iid);
  return joinExtras({ text, extras: { ...extras, ...more } });
};
