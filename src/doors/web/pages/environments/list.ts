/** Lists the environments of a project. */
import { may } from '../../../../core/access/may.ts';
import { type EnvironmentRow, listEnvironments } from '../../../../ci/environments/queries.ts';
import { isHttpUrl } from '../../../../ci/environments/rules.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { input, noProblems, withFormStatus } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { momentOr } from '../../parts/timestamp.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type Tried, environmentForm } from './form.ts';
import { spellCount } from '../../parts/spell_count.ts';

export const environmentsRoutePath = `${projectRoot}/environments`;

export const environmentsPath = (project: Project): string => projectPagePath(project, 'environments');

type State = EnvironmentRow['state'];

const states: Record<State, readonly [mark: string, word: string]> = {
  available: ['●', 'Available'],
  stopping: ['◐', 'Stopping'],
  stopped: ['○', 'Stopped'],
};

export const stateBadge = (state: State): Html => {
  const [mark, word] = states[state];
  return html`<span class="badge"><span aria-hidden="true">${mark}</span> ${word}</span>`;
};

/** Renders an external link that sends no referrer. */
export const addressLink = (url: string | null): Html | null =>
  url !== null && isHttpUrl(url)
    ? html`<a href="${url}" rel="noopener noreferrer nofollow">${url}</a>`
    : null;

const line = (visit: Visit, project: Project, row: EnvironmentRow): Html => {
  const path = `${environmentsPath(project)}/${row.id}`;
  const isMine = may(visit.call.viewer, 'admin_environment', project);
  return html`<tr>
<th scope="row"><a href="${path}">${row.name}</a></th>
<td>${stateBadge(row.state)}</td>
<td>${row.tier}</td>
<td>${addressLink(row.external_url)}</td>
<td>${momentOr(row.auto_stop_at, 'Never')}</td>
<td>${isMine && row.state !== 'stopped' && button(visit, `${path}/stop`, { label: 'Stop', name: `Stop ${row.name}`, danger: true })}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Environments"><table>
<thead><tr><th scope="col">Environment</th><th scope="col">State</th><th scope="col">Tier</th><th scope="col">Address</th>
<th scope="col">Auto stop</th><th scope="col">Action</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

const tabNames = Object.fromEntries(Object.entries(states).map(([state, [, name]]) => [state, name]));

const filterForm = (path: string, search: string | null): Html =>
  html`<form method="get" action="${path}" class="filter">
${input({ name: 'search', label: 'Search by name', value: search })}<div class="buttons"><button>Filter</button></div>
</form>
`;

const listParams = object({
  ...projectPath,
  states: optional(oneOf(['available', 'stopping', 'stopped'])),
  search: optional(clearable(text())),
  ...pageParams,
});

type PageQuery = {
  states?: State | undefined;
  search?: string | null | undefined;
  page?: number;
  per_page?: number;
};

export const listView = async (
  visit: Visit,
  project: Project,
  query: PageQuery = {},
  tried: Tried = { given: {}, problems: noProblems },
): Promise<View> => {
  const { db, viewer } = visit.call;
  const { states: state } = query;
  const search = query.search ?? undefined;
  const wanted = pageRequest(query);
  const path = environmentsPath(project);
  const { items, total } = await listEnvironments(db, project.id, { states: state, search }, wanted);
  const fresh = html`<h2 id="new">New environment</h2>
<p>Environments named in jobs are created automatically.</p>
${environmentForm(visit, { action: path, submit: 'Add environment', isNew: true }, tried)}`;
  const content = html`${choiceTabs({ label: 'Environments by state', path, param: 'states', chosen: state, names: tabNames })}
${filterForm(path, search ?? null)}
<p class="quiet">${spellCount(total, 'environment')}</p>
${items.length > 0 && table(items.map((row) => line(visit, project, row)))}
${pagesNav({ path, query: { states: state, search }, page: wanted, total })}
${may(viewer, 'admin_environment', project) && fresh}`;
  const view = projectView(visit, { project, title: 'Environments', noun: 'environments' }, content);
  return withFormStatus(view, tried.problems);
};

export const listPages = [
  page({
    method: 'GET',
    path: environmentsRoutePath,
    audience: 'user',
    params: listParams,
    handle: async (visit, { project, ...query }) =>
      await listView(visit, await findProjectFor(visit.call, project, 'read_environment'), query),
  }),
];
