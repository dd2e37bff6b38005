/** Lists the pipelines of a project, newest first. */
import type { Static } from 'typebox';
import { may } from '../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { listPipelines, scopes } from '../../../../ci/pipelines/list.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { findCode } from '../../../../code/repository/code.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import { type BasicUserRow, basicUsersById } from '../../../../identity/users/json.ts';
import { spellCount } from '../../parts/count.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { input } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/moment.ts';
import { choiceTabs } from '../../parts/frame/nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { spell, statusBadge } from '../../parts/status_badge.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_view.ts';
import { projectRoot } from '../../places.ts';

const longestRef = 1_000;

const listParams = object({
  ...projectPath,
  scope: optional(oneOf(scopes)),
  ref: optional(clearable(text({ maxLength: longestRef }))),
  ...pageParams,
});

type Asked = Partial<Static<typeof listParams>>;

const tabNames: Record<(typeof scopes)[number], string> = {
  running: 'Running',
  pending: 'Pending',
  finished: 'Finished',
  branches: 'Branches',
  tags: 'Tags',
};

type Row = { row: PipelineRow; project: Project; user: BasicUserRow | undefined };

const line = ({ row, project, user }: Row): Html => html`<tr>
<th scope="row"><a href="${projectPagePath(project, `pipelines/${row.id}`)}">#${row.id}</a>${row.name !== null && html` ${row.name}`}</th>
<td>${statusBadge(row.status)}</td>
<td>${row.ref}<br><code>${row.sha.slice(0, 8)}</code></td>
<td>${row.source.replaceAll('_', ' ')}</td>
<td>${user?.name}</td>
<td>${row.duration !== null && spell(row.duration)}</td>
<td>${relative(row.created_at)}</td>
</tr>
`;

const table = (
  rows: readonly Row[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Pipelines"><table>
<thead><tr><th scope="col">Pipeline</th><th scope="col">Status</th><th scope="col">Branch or tag</th>
<th scope="col">Source</th><th scope="col">Triggered by</th><th scope="col">Duration</th><th scope="col">Created</th></tr></thead>
<tbody>${rows.map(line)}</tbody>
</table></div>`;

const filterForm = (path: string, ref: string | null): Html =>
  html`<form method="get" action="${path}" class="filter">
${input({ name: 'ref', id: 'filter_ref', label: 'Filter by branch or tag', value: ref })}<div class="buttons"><button>Filter</button></div>
</form>
`;

const none = (isFiltered: boolean): Html =>
  html`<section class="card" aria-label="Pipelines">${
    isFiltered
      ? emptyState({ icon: 'search', title: 'No pipelines match' })
      : emptyState({
          icon: 'pipeline',
          title: 'No pipelines yet',
          text: 'Add a file .gitlab-ci.yml: each push then starts a pipeline.',
        })
  }</section>`;

const listView = async (visit: Visit, project: Project, asked: Asked): Promise<View> => {
  const { db, viewer } = visit.call;
  const { scope } = asked;
  const ref = (asked.ref ?? '') === '' ? undefined : (asked.ref ?? undefined);
  const wanted = pageRequest(asked);
  const order = { order_by: 'id', sort: 'desc' } as const;
  const { items, total } = await listPipelines(db, project.id, { scope, ref, ...order }, wanted);
  const users = await basicUsersById(
    db,
    items.flatMap(({ user_id }) => (user_id === null ? [] : [user_id])),
  );
  const path = projectPagePath(project, 'pipelines');
  const rows = items.map((row) => ({ row, project, user: users.get(row.user_id ?? 0) }));
  const content = html`<div class="row between"><h1>Pipelines</h1>${may(viewer, 'create_pipeline', project) && html`<a class="button primary" href="${path}/new">${icon('play')} Run pipeline</a>`}</div>
${choiceTabs({ label: 'Pipelines by state', path, param: 'scope', chosen: scope, names: tabNames })}
${filterForm(path, ref ?? null)}
${rows.length === 0 ? none(scope !== undefined || ref !== undefined) : html`<section class="card" aria-label="Pipelines"><header><span class="muted">${spellCount(total, 'pipeline')}</span></header>${table(rows)}</section>`}
${pagesNav({ path, query: { scope, ref }, page: wanted, total })}`;
  return projectView(visit, { project, title: 'Pipelines', noun: 'pipelines', hasHeading: true }, content);
};

export const pipelineListPages = [
  page({
    method: 'GET',
    path: `${projectRoot}/pipelines`,
    audience: 'user',
    params: listParams,
    handle: async (visit, { project: of, ...asked }) => {
      const { project } = await findCode(visit.call, of, 'read_pipeline');
      return await listView(visit, project, asked);
    },
  }),
];
