/** The page of an environment: its deployments. */
import { may } from '../../../../core/access/may.ts';
import { retryableStatuses } from '../../../../core/job_statuses.ts';
import { listDeployments } from '../../../../ci/environments/deployments/list.ts';
import {
  type EnvironmentRow,
  findEnvironment,
  loadLastDeployment,
} from '../../../../ci/environments/queries.ts';
import { loadRunRights } from '../../../../ci/pipelines/creation/creation_rights.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { momentOr, relative } from '../../parts/timestamp.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type EnvironmentState, environmentForm, fromRecord } from './form.ts';
import { addressLink, environmentsPath, environmentsRoutePath, stateBadge } from './list.ts';
import { userLink } from '../../parts/user_link.ts';
import { type ShownDeployment, loadDeployments } from './load_deployments.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

export type FoundEnvironment = { project: Project; row: EnvironmentRow };

const facts = ({ row }: FoundEnvironment): Html => html`<dl class="figures">
<div><dt>State</dt><dd>${stateBadge(row.state)}</dd></div>
<div><dt>Tier</dt><dd>${row.tier}</dd></div>
<div><dt>Auto stop</dt><dd>${momentOr(row.auto_stop_at, 'Never')}</dd></div>
${row.external_url !== null && html`<div><dt>Address</dt><dd>${addressLink(row.external_url)}</dd></div>`}
</dl>
${row.description !== null && html`<p class="lines">${row.description}</p>`}`;

const actions = (visit: Visit, { project, row }: FoundEnvironment): Html => {
  const path = `${environmentsPath(project)}/${row.id}`;
  const isStopped = row.state === 'stopped';
  return html`<div class="buttons">${!isStopped && button(visit, `${path}/stop`, { label: 'Stop', danger: true })}
${isStopped && button(visit, `${path}/delete`, { label: 'Delete', danger: true })}</div>`;
};

type LineContext = {
  visit: Visit;
  project: Project;
  /** Id of the deployment that the environment runs; null: none. */
  current: number | null;
  /** Returns whether the viewer may run jobs of the ref. */
  mayRun: (deployment: ShownDeployment['row']) => boolean;
};

/** Renders the button that deploys the commit again by a retry of its job. */
const retryButton = (
  { visit, project, current, mayRun }: LineContext,
  { row, job }: ShownDeployment,
): Html | null => {
  if (job === null || job.retried === 1 || !retryableStatuses.includes(job.status)) return null;
  if (row.status !== 'success' || !mayRun(row)) return null;
  const label = row.id === current ? 'Re-deploy' : 'Roll back';
  const name = row.id === current ? `Re-deploy #${row.iid}` : `Roll back to #${row.iid}`;
  return button(visit, projectPagePath(project, `jobs/${job.id}/retry`), { label, name });
};

const line = (context: LineContext, deployment: ShownDeployment): Html => {
  const { row, user, job, ref, commit, title } = deployment;
  const { project, current } = context;
  return html`<tr>
<th scope="row">#${row.iid}${row.id === current && html` <span class="badge">Current</span>`}</th>
<td>${statusBadge(row.status)}</td>
<td>${ref} ${commit}${title !== null && html`<br><span class="quiet small">${title}</span>`}</td>
<td>${job !== null && html`<a href="${projectPagePath(project, `jobs/${job.id}`)}">#${job.id} ${job.name}</a>`}</td>
<td>${user !== null && userLink(user)}</td>
<td>${relative(row.created_at)}</td>
<td>${retryButton(context, deployment)}</td>
</tr>
`;
};

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Deployments"><table>
<thead><tr><th scope="col">Deployment</th><th scope="col">Status</th><th scope="col">Commit</th><th scope="col">Job</th>
<th scope="col">Deployed by</th><th scope="col">Created</th><th scope="col">Action</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

const deploymentsPart = async (
  visit: Visit,
  { project, row }: FoundEnvironment,
  query: { page?: number; per_page?: number },
): Promise<Html> => {
  const requestedPage = pageRequest(query);
  const filter = { environment: row.name, sort: 'desc' } as const;
  const { db, viewer } = visit.call;
  const [{ items, total }, newest, mayRunOn] = await Promise.all([
    listDeployments(db, project.id, filter, requestedPage),
    loadLastDeployment(db, row.id),
    loadRunRights(visit.call, project),
  ]);
  const isRunner = may(viewer, 'update_job', project);
  const mayRun: LineContext['mayRun'] = (deployment) => isRunner && mayRunOn(deployment);
  const context = { visit, project, current: newest?.id ?? null, mayRun };
  const shown = await loadDeployments(visit, project, items);
  return html`<h2>Deployments</h2>
<p class="quiet">${spellCount(total, 'deployment')}</p>
${shown.length > 0 && table(shown.map((one) => line(context, one)))}
${pagesNav({ path: `${environmentsPath(project)}/${row.id}`, query: {}, page: requestedPage, total })}`;
};

export const oneView = async (
  visit: Visit,
  loaded: FoundEnvironment,
  query: { page?: number; per_page?: number } = {},
  state: EnvironmentState = unsent(fromRecord(loaded.row)),
): Promise<View> => {
  const { project, row } = loaded;
  const isMine = may(visit.call.viewer, 'admin_environment', project);
  const action = `${environmentsPath(project)}/${row.id}`;
  const edit = html`<h2 id="edit">Edit</h2>
${environmentForm(visit, { action, submit: 'Save changes', isNew: false }, state)}`;
  const content = html`${facts(loaded)}${isMine && actions(visit, loaded)}
${await deploymentsPart(visit, loaded, query)}
${isMine && edit}`;
  return projectView(visit, { project, title: `Environment ${row.name}`, noun: 'environments' }, content);
};

export const onePages = [
  page({
    method: 'GET',
    path: `${environmentsRoutePath}/:id`,
    audience: 'user',
    params: object({ ...projectPath, id: id(), ...pageParams }),
    handle: async (visit, { project: fullPath, id: environmentId, ...query }) => {
      const project = await findProjectFor(visit.call, fullPath, 'read_environment');
      const row = await findEnvironment(visit.call.db, project.id, environmentId);
      return await oneView(visit, { project, row }, query);
    },
  }),
];
