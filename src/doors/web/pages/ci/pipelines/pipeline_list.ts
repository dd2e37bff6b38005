/** Lists the pipelines of a project, newest first. */
import type { Static } from 'typebox';
import { may } from '../../../../../core/access/may.ts';
import { isActive } from '../../../../../core/job_statuses.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { object, oneOf, optional } from '../../../../../platform/http/schema.ts';
import { listPipelines, scopes } from '../../../../../ci/pipelines/list.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { findCode } from '../../../../../code/repository/find_code.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { choiceTabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { pipelineTable } from '../../../parts/pipelines/pipeline_table.ts';
import { projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';
import { filterForm, filterParams, toFilters } from './pipeline_filters.ts';

const listParams = object({
  ...projectPath,
  scope: optional(oneOf(scopes)),
  ...filterParams,
  ...pageParams,
});

type PageQuery = Partial<Static<typeof listParams>>;

const tabNames: Record<(typeof scopes)[number], string> = {
  running: 'Running',
  pending: 'Pending',
  finished: 'Finished',
  branches: 'Branches',
  tags: 'Tags',
};

const none = (isFiltered: boolean): Html =>
  html`<section class="card" aria-label="Pipelines">${
    isFiltered
      ? emptyState({
          icon: 'search',
          title: 'No pipelines match',
          text: 'Choose other filters.',
        })
      : emptyState({
          icon: 'pipeline',
          title: 'No pipelines yet',
          text: 'Add a file .gitlab-ci.yml: each push then starts a pipeline.',
        })
  }</section>`;

const listView = async (visit: Visit, project: Project, query: PageQuery): Promise<View> => {
  const { db, viewer } = visit.call;
  const { scope } = query;
  const filters = toFilters(query);
  const requestedPage = pageRequest(query);
  const order = { order_by: 'id', sort: 'desc' } as const;
  const { items, total } = await listPipelines(
    db,
    project.id,
    { scope, ...filters, ...order },
    requestedPage,
  );
  const path = projectPagePath(project, 'pipelines');
  const isLive = items.some(({ status }) => isActive(status));
  const isFiltered = scope !== undefined || Object.keys(filters).length > 0;
  const content = html`<div class="row between"><h1>Pipelines</h1><span class="row">${may(viewer, 'read_code', project) && html`<a class="button" href="${projectPagePath(project, 'ci/lint')}">Validate configuration</a>`}${may(viewer, 'create_pipeline', project) && html`<a class="button primary" href="${path}/new">${icon('play')} Run pipeline</a>`}</span></div>
${choiceTabs({ label: 'Pipelines by state', path, param: 'scope', chosen: scope, names: tabNames, keep: filters })}
${filterForm(path, project, { scope, ...filters })}
<div id="pipelines" data-part${isLive && html` data-live=""`}>${items.length === 0 ? none(isFiltered) : html`<section class="card" aria-label="Pipelines"><header><span class="muted">${spellCount(total, 'pipeline')}</span></header>${await pipelineTable(visit, project, items)}</section>`}</div>
${pagesNav({ path, query: { scope, ...filters }, page: requestedPage, total })}`;
  // If scripts are off the page does not reload, because that would discard a filter that somebody types.
  const frame = { project, title: 'Pipelines', noun: 'pipelines', hasHeading: true } as const;
  return projectView(visit, frame, content);
};

export const pipelineListPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/pipelines`,
    audience: 'user',
    params: listParams,
    handle: async (visit, { project: fullPath, ...query }) => {
      const { project } = await findCode(visit.call, fullPath, 'read_pipeline');
      return await listView(visit, project, query);
    },
  }),
];
