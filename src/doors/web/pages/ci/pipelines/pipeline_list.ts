/** Lists the pipelines of a project, newest first. */
import type { Static } from 'typebox';
import { may } from '../../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../../platform/http/schema.ts';
import { listPipelines, scopes } from '../../../../../ci/pipelines/list.ts';
import type { Project } from '../../../../../projects/projects/find.ts';
import { findCode } from '../../../../../code/repository/find_code.ts';
import { spellCount } from '../../../parts/spell_count.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { input } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { choiceTabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { pipelineTable } from '../../../parts/pipelines/pipeline_table.ts';
import { projectPagePath, projectPath, projectView } from '../../../parts/frame/project_layout.ts';
import { projectRoot } from '../../../project_and_group_pages.ts';

const longestRef = 1_000;

const listParams = object({
  ...projectPath,
  scope: optional(oneOf(scopes)),
  ref: optional(clearable(text({ maxLength: longestRef }))),
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

const filterForm = (path: string, ref: string | null): Html =>
  html`<form method="get" action="${path}" class="filter">
${input({ name: 'ref', id: 'filter_ref', label: 'Filter by branch or tag', value: ref })}<div class="buttons"><button>Filter</button></div>
</form>
`;

const none = (isFiltered: boolean): Html =>
  html`<section class="card" aria-label="Pipelines">${
    isFiltered
      ? emptyState({
          icon: 'search',
          title: 'No pipelines match',
          text: 'Choose another state, branch or tag.',
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
  const ref = (query.ref ?? '') === '' ? undefined : (query.ref ?? undefined);
  const wanted = pageRequest(query);
  const order = { order_by: 'id', sort: 'desc' } as const;
  const { items, total } = await listPipelines(db, project.id, { scope, ref, ...order }, wanted);
  const path = projectPagePath(project, 'pipelines');
  const content = html`<div class="row between"><h1>Pipelines</h1>${may(viewer, 'create_pipeline', project) && html`<a class="button primary" href="${path}/new">${icon('play')} Run pipeline</a>`}</div>
${choiceTabs({ label: 'Pipelines by state', path, param: 'scope', chosen: scope, names: tabNames })}
${filterForm(path, ref ?? null)}
${items.length === 0 ? none(scope !== undefined || ref !== undefined) : html`<section class="card" aria-label="Pipelines"><header><span class="muted">${spellCount(total, 'pipeline')}</span></header>${await pipelineTable(visit, project, items)}</section>`}
${pagesNav({ path, query: { scope, ref }, page: wanted, total })}`;
  return projectView(visit, { project, title: 'Pipelines', noun: 'pipelines', hasHeading: true }, content);
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
