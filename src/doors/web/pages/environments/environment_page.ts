/** The page of an environment: its deployments. */
import { may } from '../../../../core/access/may.ts';
import { listDeployments } from '../../../../ci/environments/deployments/list.ts';
import { deploymentsJson } from '../../../../ci/environments/json.ts';
import { type EnvironmentRow, findEnvironment } from '../../../../ci/environments/queries.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { noProblems } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { momentOr } from '../../parts/timestamp.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { statusBadge } from '../../parts/status_badge.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { type Tried, environmentForm, filledOf } from './form.ts';
import { addressLink, environmentsPath, environmentsRoutePath, stateBadge } from './list.ts';
import { spellCount } from '../../parts/spell_count.ts';

export type FoundEnvironment = { project: Project; row: EnvironmentRow };

/** The page shows numbers of jobs only, so it loads no jobs. */
const noJobs = async (): Promise<ReadonlyMap<number, object>> => new Map();

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

type Json = Awaited<ReturnType<typeof deploymentsJson>>[number];

const line = (project: Project, json: Json, jobId: number | null): Html => html`<tr>
<th scope="row">#${json.iid}</th>
<td>${statusBadge(json.status)}</td>
<td>${json.ref} <code>${json.sha.slice(0, 8)}</code></td>
<td>${jobId !== null && html`<a href="${projectPagePath(project, `jobs/${jobId}`)}">#${jobId}</a>`}</td>
<td>${json.user?.name}</td>
<td><time datetime="${json.created_at}">${json.created_at.slice(0, 16).replace('T', ' ')} UTC</time></td>
</tr>
`;

const table = (
  lines: readonly Html[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Deployments"><table>
<thead><tr><th scope="col">Deployment</th><th scope="col">Status</th><th scope="col">Commit</th><th scope="col">Job</th>
<th scope="col">Who</th><th scope="col">When</th></tr></thead>
<tbody>${lines}</tbody>
</table></div>`;

const deploymentsPart = async (
  { call }: Visit,
  { project, row }: FoundEnvironment,
  query: { page?: number; per_page?: number },
): Promise<Html> => {
  const wanted = pageRequest(query);
  const filter = { environment: row.name, sort: 'desc' } as const;
  const { items, total } = await listDeployments(call.db, project.id, filter, wanted);
  const shown = await deploymentsJson(call, project, items, noJobs);
  return html`<h2>Deployments</h2>
<p class="quiet">${spellCount(total, 'deployment')}</p>
${shown.length > 0 && table(shown.map((json, at) => line(project, json, items[at]?.job_id ?? null)))}
${pagesNav({ path: `${environmentsPath(project)}/${row.id}`, query: {}, page: wanted, total })}`;
};

export const oneView = async (
  visit: Visit,
  found: FoundEnvironment,
  query: { page?: number; per_page?: number } = {},
  tried?: Tried,
): Promise<View> => {
  const { project, row } = found;
  const isMine = may(visit.call.viewer, 'admin_environment', project);
  const action = `${environmentsPath(project)}/${row.id}`;
  const shown = tried ?? { given: filledOf(row), problems: noProblems };
  const edit = html`<h2 id="edit">Edit</h2>
${environmentForm(visit, { action, submit: 'Save', isNew: false }, shown)}`;
  const content = html`${facts(found)}${isMine && actions(visit, found)}
${await deploymentsPart(visit, found, query)}
${isMine && edit}`;
  const view = projectView(
    visit,
    { project, title: `Environment ${row.name}`, noun: 'environments' },
    content,
  );
  return tried === undefined ? view : { ...view, status: 422 };
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
