import { sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { compiled } from '../db/compiled.ts';
import { forbidden, notFound } from '../errors.ts';
import type { JsonText } from '../http/endpoint.ts';
import { type Version, withMembers } from '../issuables/texts.ts';
import { type Project, findProject, loadProject } from '../projects/find.ts';
import { mayMergeInto, protectedBranches } from '../repository/protected.ts';
import { briefPipelineJson } from '../repository/pipeline_brief.ts';
import { singlePipelineJson } from '../repository/pipeline_single.ts';
import { followColumns, follows } from '../subscriptions/subscribed.ts';
import { withDetail } from './detail.ts';
import type { FoundMergeRequest } from './find.ts';
import { headOrder } from './head_pipeline.ts';
import type { Extras } from './json.ts';
import { type Checked, checkMergeStatus } from './merge_status.ts';
import { mergeRequestTexts } from './texts.ts';

/** What one of them is shown that others are not, and what decides whether it can be merged. */
type Row = Version &
  Checked & {
    author_id: number;
    deleted_at: number | null;
    /** 1: the viewer is an assignee. */
    assigned: number | null;
    said: number | null;
    found: number | null;
    /** 1: a discussion waits to be resolved. */
    unresolved: number | null;
    /** Of its head. */
    pipeline_id: number | null;
  };

type Asked = { project_id: number; iid: number; user_id: number };

const rowByIid = compiled((db, { project_id, iid, user_id }: Asked) => {
  const here = sql`target_type = 'MergeRequest' and target_id = merge_requests.id`;
  const { said, found } = followColumns(here, sql`${user_id}`);
  return sql<Row>`
    select id, revision, author_id, deleted_at, state, project_id, source_project_id, source_branch, target_branch,
      diff_id, head_sha, merge_status, checked_source_sha, checked_target_sha,
      (select 1 from assignees where ${here} and user_id = ${user_id}) as assigned,
      ${said} as said, ${found} as found,
      (select 1 from notes where ${here} and resolvable = 1 and resolved_at is null limit 1) as unresolved,
      (select pipelines.id from pipelines where sha = head_sha and pipelines.project_id = source_project_id
        and source <> 'parent_pipeline' and (ref = source_branch or merge_request_id = merge_requests.id)
        order by ${headOrder} limit 1) as pipeline_id
    from merge_requests where project_id = ${project_id} and iid = ${iid}`.compile(db);
});

const statusById = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('merge_requests')
    .select(['id', 'revision', 'merge_status', 'checked_source_sha', 'checked_target_sha'])
    .where('id', '=', id)
    .compile(),
);

const mayMerge = async (call: Call, project: Project, branch: string): Promise<boolean> =>
  may(call.viewer, 'push_code', project) &&
  mayMergeInto(call.viewer, project, await protectedBranches(call.db, project.id), branch);

/** As it is once it has been looked at. */
const checked = async (call: Call, project: Project, row: Row): Promise<Row> => {
  const status = await checkMergeStatus(call.platform, row, project);
  // Whether it must be rebased, the commits that were looked at tell.
  if (status === row.merge_status && project.merge_method === 'merge') return row;
  const [now] = await statusById(call.db, { id: row.id });
  return { ...row, ...now };
};

/** The project that a request comes from, if its pipelines are for the caller to see. */
const pipelinesOf = async (call: Call, target: Project, sourceId: number | null): Promise<Project | null> => {
  if (sourceId === null) return null;
  const source = sourceId === target.id ? target : await loadProject(call.db, sourceId);
  return source !== null && may(call.viewer, 'read_pipeline', source) ? source : null;
};

const noPipeline = { head_pipeline: null, pipeline: null };

/** As far as it is for the caller to see. */
const headPipeline = async (
  call: Call,
  target: Project,
  id: number,
): Promise<Pick<Extras, 'head_pipeline' | 'pipeline'>> => {
  const row = await call.db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirst();
  const source = row === undefined ? null : await pipelinesOf(call, target, row.project_id);
  if (row === undefined || source === null) return noPipeline;
  const pipeline = briefPipelineJson(row, { baseUrl: call.baseUrl, full_path: source.full_path });
  return { head_pipeline: await singlePipelineJson(call, row, source), pipeline };
};

type Shown = { text: JsonText; extras: Extras };

const shownIn = async (call: Call, project: Project, iid: number): Promise<Shown> => {
  const user_id = userOf(call).id;
  const [row] = await rowByIid(call.db, { project_id: project.id, iid, user_id });
  if (row === undefined || row.deleted_at !== null) throw notFound();
  const request = await checked(call, project, row);
  const [kept] = await mergeRequestTexts(call, [request]);
  if (kept === undefined) throw notFound();
  const can_merge = await mayMerge(call, project, row.target_branch);
  const text = await withDetail(call.db, kept, {
    project,
    request,
    // Who may merge learns it when he tries.
    seesPipelines: async () =>
      can_merge || (await pipelinesOf(call, project, row.source_project_id)) !== null,
  });
  const subscribed = follows(row, row.author_id === user_id || row.assigned === 1);
  const blocking_discussions_resolved = row.unresolved === null;
  const pipelines =
    row.pipeline_id === null ? noPipeline : await headPipeline(call, project, row.pipeline_id);
  return { text, extras: { subscribed, user: { can_merge }, blocking_discussions_resolved, ...pipelines } };
};

const joined = ({ text, extras }: Shown): JsonText => withMembers(text, extras);

/** One merge request as the caller sees it, as JSON; 403 if he may read none of the project, 404 if there is none. */
export const showMergeRequest = async (
  call: Call,
  projectId: number | string,
  iid: number,
): Promise<JsonText> => {
  const project = await findProject(call, projectId);
  if (!may(call.viewer, 'read_merge_request', project)) throw forbidden();
  return joined(await shownIn(call, project, iid));
};

/** The same, of one that was just read or changed; with `more` members, where the answer has some. */
export const singleReply = async (
  call: Call,
  { project, target }: Pick<FoundMergeRequest, 'project' | 'target'>,
  more: object = {},
): Promise<JsonText> => {
  const { text, extras } = await shownIn(call, project, target.iid);
  return joined({ text, extras: { ...extras, ...more } });
};
