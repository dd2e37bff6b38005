/** Lists the environments of a project. */
import { may } from '../../../../core/access/may.ts';
import { type EnvironmentRow, loadLastDeployments } from '../../../../ci/environments/queries.ts';
import { type FolderEntry, listEnvironmentFolders } from '../../../../ci/environments/folders.ts';
import { isHttpUrl } from '../../../../ci/environments/rules.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { clearable, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { momentOr, relative } from '../../parts/timestamp.ts';
import { searchForm } from '../../parts/search_form.ts';
import { userLink } from '../../parts/user_link.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type EnvironmentState, blank, environmentForm } from './form.ts';
import { type ShownDeployment, loadDeployments } from './load_deployments.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

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
  return html`<span class="badge${state === 'available' && ' good'}"><span aria-hidden="true">${mark}</span> ${word}</span>`;
};

/** Renders an external link that sends no referrer. */
export const addressLink = (url: string | null): Html | null =>
  url !== null && isHttpUrl(url)
    ? html`<a href="${url}" rel="noopener noreferrer nofollow">${url}</a>`
    : null;

/** Renders the last successful deployment: its commit, who deployed it, and when. */
const deploymentCell = (deployment: ShownDeployment | undefined): Html => {
  if (deployment === undefined) return html`<span class="quiet">None</span>`;
  const { row, user, ref, commit, title } = deployment;
  return html`${ref} ${commit}${title !== null && html` <span class="quiet small">${title}</span>`}<br>${user !== null && html`${userLink(user)} `}<span class="quiet small">${relative(row.finished_at ?? row.created_at)}</span>`;
};

type LineContext = {
  visit: Visit;
  project: Project;
  /** Last deployments by the id of the environment. */
  deployments: ReadonlyMap<number, ShownDeployment>;
};

const line = ({ visit, project, deployments }: LineContext, row: EnvironmentRow): Html => {
  const path = `${environmentsPath(project)}/${row.id}`;
  const isMine = may(visit.call.viewer, 'admin_environment', project);
  return html`<tr>
<th scope="row"><a href="${path}">${row.name}</a></th>
<td>${stateBadge(row.state)}</td>
<td>${deploymentCell(deployments.get(row.id))}</td>
<td>${row.tier}</td>
<td>${addressLink(row.external_url)}</td>
<td>${momentOr(row.auto_stop_at, 'Never')}</td>
<td>${isMine && row.state !== 'stopped' && button(visit, `${path}/stop`, { label: 'Stop', name: `Stop ${row.name}`, danger: true })}</td>
</tr>
`;
};

const folderLine = (folder: string, count: number, path: string): Html => html`<tr>
<th scope="row"><a href="${path}">${icon('folder')} ${folder}</a></th>
<td colspan="6"><span class="quiet">${spellCount(count, 'environment')}</span></td>
</tr>
`;

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Environments"><table>
<thead><tr><th scope="col">Environment</th><th scope="col">State</th><th scope="col">Last deployment</th><th scope="col">Tier</th><th scope="col">Address</th>
<th scope="col">Auto stop</th><th scope="col">Action</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

/** Renders the rows, with the last deployments of all environments in a constant number of statements. */
const entriesPart = async (
  visit: Visit,
  project: Project,
  entries: readonly FolderEntry[],
  state: State | undefined,
): Promise<Html> => {
  const ids = entries.flatMap((entry) => ('folder' in entry ? [] : [entry.environment.id]));
  const rows = await loadLastDeployments(visit.call.db, ids);
  const shown = await loadDeployments(visit, project, rows);
  const deployments = new Map(shown.map((one) => [one.row.environment_id, one]));
  const pathOf = (folder: string): string =>
    `${environmentsPath(project)}?${new URLSearchParams({ folder, ...(state !== undefined && { states: state }) }).toString()}`;
  return table(
    entries.map((entry) =>
      'folder' in entry
        ? folderLine(entry.folder, entry.count, pathOf(entry.folder))
        : line({ visit, project, deployments }, entry.environment),
    ),
  );
};

const tabNames = Object.fromEntries(Object.entries(states).map(([state, [, name]]) => [state, name]));

const listParams = object({
  ...projectPath,
  states: optional(oneOf(['available', 'stopping', 'stopped'])),
  search: optional(clearable(text())),
  folder: optional(text()),
  ...pageParams,
});

type PageQuery = {
  states?: State | undefined;
  search?: string | null | undefined;
  folder?: string | undefined;
  page?: number;
  per_page?: number;
};

export const listView = async (
  visit: Visit,
  project: Project,
  query: PageQuery = {},
  newState: EnvironmentState = unsent(blank),
): Promise<View> => {
  const { db, viewer } = visit.call;
  const { states: state, folder } = query;
  const search = query.search ?? undefined;
  const requestedPage = pageRequest(query);
  const path = environmentsPath(project);
  const filter = { states: state, search, folder };
  const { items, total, environments } = await listEnvironmentFolders(db, project.id, filter, requestedPage);
  const keep = Object.fromEntries(
    Object.entries({ search, folder }).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const fresh = html`<h2 id="new">New environment</h2>
<p>Environments named in jobs are created automatically.</p>
${environmentForm(visit, { action: path, submit: 'Create environment', isNew: true }, newState)}`;
  const content = html`${choiceTabs({ label: 'Environments by state', path, param: 'states', chosen: state, names: tabNames, keep })}
${folder !== undefined && html`<p class="row">${icon('folder')} <b>${folder}</b> <a href="${path}">All environments</a></p>`}
${searchForm({ path, name: 'search', value: search ?? '', label: 'Search by name', keep: { states: state, folder } })}
<p class="quiet">${spellCount(environments, 'environment')}</p>
${items.length > 0 && (await entriesPart(visit, project, items, state))}
${pagesNav({ path, query: { states: state, search, folder }, page: requestedPage, total })}
${may(viewer, 'admin_environment', project) && fresh}`;
  return projectView(visit, { project, title: 'Environments', noun: 'environments' }, content);
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
