/** The pipelines of a project: the newest first, and a form that makes another. */
import type { Static } from 'typebox';
import { may } from '../../../access/may.ts';
import { pageParams, pageRequest } from '../../../http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../http/schema.ts';
import { createFor } from '../../../pipelines/create_for.ts';
import { listPipelines, scopes } from '../../../pipelines/list.ts';
import type { Project } from '../../../projects/find.ts';
import { findCode } from '../../../repository/code.ts';
import type { PipelineRow } from '../../../repository/pipeline_brief.ts';
import { type BasicUserRow, basicUsersById } from '../../../users/json.ts';
import { type FormProblems, form, input, noProblems, problemsOf } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import { moment } from '../../moment.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
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

const tabs = (path: string, chosen: Asked['scope']): Html => {
  const tab = (to: string, name: string, isHere: boolean): Html =>
    html`<li><a href="${to}"${isHere && html` aria-current="page"`}>${name}</a></li>`;
  return html`<nav aria-label="Pipelines by state"><ul class="tabs">${tab(path, 'All', chosen === undefined)}${scopes.map(
    (scope) => tab(`${path}?scope=${scope}`, tabNames[scope], scope === chosen),
  )}</ul></nav>`;
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

const newForm = (visit: Visit, project: Project, ref: string, problems: FormProblems): Html =>
  html`<h2>Run a pipeline</h2>
${form(
  visit,
  { action: pathOf(project, 'pipelines'), submit: 'Run it', problems },
  input({ name: 'ref', label: 'Branch or tag', value: ref, required: true, problems }),
)}`;

const listView = async (
  visit: Visit,
  project: Project,
  asked: Asked,
  tried: { ref: string; problems: FormProblems } | null = null,
): Promise<View> => {
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
  const proposed = tried?.ref ?? project.default_branch ?? '';
  const content = html`${tabs(path, scope)}
${filterForm(path, ref ?? null)}
<p class="quiet">${total === 1 ? '1 pipeline' : `${total} pipelines`}</p>
${rows.length > 0 && table(rows)}
${pagesNav({ path, query: { scope, ref }, page: wanted, total })}
${may(viewer, 'create_pipeline', project) && newForm(visit, project, proposed, tried?.problems ?? noProblems)}`;
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
  page({
    method: 'POST',
    path: `${served}/pipelines`,
    audience: 'user',
    params: object({ ...projectPath, ref: text({ maxLength: longestRef }) }),
    handle: async (visit, { project: of, ref }) => {
      const code = await findCode(visit.call, of, 'create_pipeline');
      try {
        const { pipeline } = await createFor(visit.call, code, { ref, source: 'web' });
        return redirect(pathOf(code.project, `pipelines/${pipeline.id}`));
      } catch (error) {
        const problems = problemsOf(error);
        if (problems === null) throw error;
        const text = Object.values(problems.fields).flat().join('. ');
        const shown = { ref, problems: { text, fields: {} } };
        return { ...(await listView(visit, code.project, {}, shown)), status: 422 };
      }
    },
  }),
];
