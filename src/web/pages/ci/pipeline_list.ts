/** The pipelines of a project: the newest first, and a form that makes another. */
import type { Static } from 'typebox';
import { may } from '../../../access/may.ts';
import { pageParams, pageRequest } from '../../../http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../http/schema.ts';
import { listPipelines, scopes } from '../../../pipelines/list.ts';
import type { Project } from '../../../projects/find.ts';
import { findCode } from '../../../repository/code.ts';
import type { PipelineRow } from '../../../repository/pipeline_brief.ts';
import { type BasicUserRow, basicUsersById } from '../../../users/json.ts';
import { input } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import { moment } from '../../moment.ts';
import { choiceTabs } from '../../nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../paging.ts';
import { spell, statusBadge } from '../../status_badge.ts';
import { pathOf, projectPath, projectView, served } from './project_view.ts';

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
<th scope="row"><a href="${pathOf(project, `pipelines/${row.id}`)}">#${row.id}</a>${row.name !== null && html` ${row.name}`}</th>
<td>${statusBadge(row.status)}</td>
<td>${row.ref}<br><code>${row.sha.slice(0, 8)}</code></td>
<td>${row.source.replaceAll('_', ' ')}</td>
<td>${user?.name}</td>
<td>${row.duration !== null && spell(row.duration)}</td>
<td>${moment(row.created_at)}</td>
</tr>
`;

const table = (
  rows: readonly Row[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Pipelines"><table>
<thead><tr><th scope="col">Pipeline</th><th scope="col">Status</th><th scope="col">Branch or tag</th>
<th scope="col">Made by</th><th scope="col">Who</th><th scope="col">Took</th><th scope="col">Made</th></tr></thead>
<tbody>${rows.map(line)}</tbody>
</table></div>`;

const filterForm = (path: string, ref: string | null): Html =>
  html`<form method="get" action="${path}" class="filter">
${input({ name: 'ref', id: 'filter_ref', label: 'Of this branch or tag', value: ref })}<div class="buttons"><button>Show</button></div>
</form>
`;

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
  const path = pathOf(project, 'pipelines');
  const rows = items.map((row) => ({ row, project, user: users.get(row.user_id ?? 0) }));
  const content = html`${may(viewer, 'create_pipeline', project) && html`<p><a class="button" href="${path}/new">Run a pipeline</a></p>`}
${choiceTabs({ label: 'Pipelines by state', path, param: 'scope', chosen: scope, names: tabNames })}
${filterForm(path, ref ?? null)}
<p class="quiet">${total === 1 ? '1 pipeline' : `${total} pipelines`}</p>
${rows.length > 0 && table(rows)}
${pagesNav({ path, query: { scope, ref }, page: wanted, total })}`;
  return projectView(visit, { project, title: 'Pipelines', noun: 'pipelines' }, content);
};

export const pipelineListPages = [
  page({
    method: 'GET',
    path: `${served}/pipelines`,
    audience: 'user',
    params: listParams,
    handle: async (visit, { project: of, ...asked }) => {
      const { project } = await findCode(visit.call, of, 'read_pipeline');
      return await listView(visit, project, asked);
    },
  }),
];
