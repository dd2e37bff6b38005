/** The Pipelines tab of a merge request. */
import { may } from '../../../../../core/access/may.ts';
import { listMergeRequestPipelines } from '../../../../../ci/pipelines/list.ts';
import {
  findPipelineSource,
  runRequestPipeline,
} from '../../../../../ci/pipelines/merge_request_pipelines.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { problemText } from '../../../parts/form_problems.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { pipelineTable } from '../../../parts/pipelines/pipeline_table.ts';
import { isActive } from '../../../../../core/job_statuses.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestFrame } from '../frame/merge_request_layout.ts';

type PageQuery = { page?: number; per_page?: number };

const pipelinesPart = async (visit: Visit, loaded: LoadedMergeRequest, query: PageQuery): Promise<Html> => {
  const { call } = visit;
  const source = await findPipelineSource(call, loaded);
  if (source === null) {
    const text = 'The pipelines of the source project are not visible to you.';
    return html`<section class="card">${emptyState({ icon: 'lock', title: 'No pipelines', text })}</section>`;
  }
  const request = pageRequest(query);
  const { items, total } = await listMergeRequestPipelines(call.db, source.id, loaded.merge_request, request);
  const path = requestPath(loaded, '/pipelines');
  const run =
    call.signedIn &&
    may(call.viewer, 'create_pipeline', source) &&
    button(visit, path, { label: 'Run pipeline' });
  const isLive = items.some(({ status }) => isActive(status));
  const table =
    items.length === 0
      ? html`<section class="card">${emptyState({ icon: 'pipeline', title: 'No pipelines', text: 'A push to the source branch starts one if the project has a .gitlab-ci.yml file.' })}</section>`
      : await pipelineTable(visit, source, items);
  return html`<div class="row between"><span class="muted">${spellCount(total, 'pipeline')}</span>${run}</div>
<div id="pipelines" data-part${isLive && html` data-live=""`}>${table}</div>${pagesNav({ path, query: {}, page: request, total })}`;
};

const pipelinesView = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: PageQuery = {},
  alert?: string,
): Promise<View> =>
  await requestFrame(
    visit,
    loaded,
    { tab: 'pipelines', ...(alert !== undefined && { alert }) },
    await pipelinesPart(visit, loaded, query),
  );

export const pipelinesPages = [
  page({
    method: 'GET',
    path: `${requestsRoutePath}/:iid/pipelines`,
    audience: 'visitor',
    params: object({ ...oneRequest, ...pageParams }),
    handle: async (visit, { project, iid, ...query }) =>
      await pipelinesView(visit, await findMergeRequest(visit.call, project, iid), query),
  }),
  formPage({
    path: `${requestsRoutePath}/:iid/pipelines`,
    audience: 'user',
    address: oneRequest,
    fields: {},
    find: async ({ call }, { project, iid }) => await findMergeRequest(call, project, iid),
    fromSent: () => null,
    run: async ({ call }, loaded) => {
      await runRequestPipeline(call, loaded);
      return redirect(requestPath(loaded, '/pipelines'), 'The pipeline was created.');
    },
    view: async (visit, loaded, { problems }) =>
      await pipelinesView(visit, loaded, {}, problemText(problems)),
  }),
];
