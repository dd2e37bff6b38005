/** Lists the schedules of a project. */
import { may } from '../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { type Schedule, listSchedules } from '../../../../ci/pipelines/schedules/queries.ts';
import { resolveTimeZone } from '../../../../ci/pipelines/schedules/time_zones.ts';
import { canEditSchedule, canTakeOverSchedule } from '../../../../ci/pipelines/schedules/rights.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type BasicUserRow, basicUsersById } from '../../../../identity/users/json.ts';
import { unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { localMoment } from '../../parts/timestamp.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { button, projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type ScheduleState, getBlank, scheduleForm } from './form.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

export const schedulesRoutePath = `${projectRoot}/pipeline_schedules`;

export const schedulesPath = (project: Project): string => projectPagePath(project, 'pipeline_schedules');

const actions = (visit: Visit, project: Project, schedule: Schedule): Html | null => {
  const { call } = visit;
  if (!may(call.viewer, 'admin_schedule', project)) return null;
  const path = `${schedulesPath(project)}/${schedule.id}`;
  const act = (verb: string, label: string, danger = false): Html =>
    button(visit, `${path}/${verb}`, { label, name: `${label}: ${schedule.description}`, danger });
  const isOwn = canEditSchedule(call, project, schedule);
  return html`${act('play', 'Run now')}${isOwn && html`<a href="${path}" aria-label="Edit ${schedule.description}">Edit</a> `}${
    !isOwn && canTakeOverSchedule(call, project, schedule) && act('take_ownership', 'Take over')
  }${canTakeOverSchedule(call, project, schedule) && act('delete', 'Delete', true)}`;
};

type Line = { visit: Visit; project: Project; schedule: Schedule; owner: BasicUserRow | undefined };

const line = ({ visit, project, schedule, owner }: Line): Html => {
  const { description, ref, cron, cron_timezone, active, next_run_at, last_pipeline_id } = schedule;
  const zone = resolveTimeZone(cron_timezone) ?? 'UTC';
  const next = active === 0 ? 'Inactive' : next_run_at === null ? 'Never' : localMoment(next_run_at, zone);
  return html`<tr>
<th scope="row">${description}</th>
<td>${ref}</td>
<td><code>${cron}</code><br><span class="quiet">${cron_timezone}</span></td>
<td>${next}</td>
<td>${
    last_pipeline_id === null
      ? 'None'
      : html`<a href="${projectPagePath(project, `pipelines/${last_pipeline_id}`)}">#${last_pipeline_id}</a>`
  }</td>
<td>${owner?.name}</td>
<td>${actions(visit, project, schedule)}</td>
</tr>
`;
};

const table = (
  lines: readonly Line[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Schedules"><table>
<thead><tr><th scope="col">Schedule</th><th scope="col">Branch or tag</th><th scope="col">When</th><th scope="col">Next</th>
<th scope="col">Last pipeline</th><th scope="col">Owner</th><th scope="col">Actions</th></tr></thead>
<tbody>${lines.map(line)}</tbody>
</table></div>`;

const scopes = ['active', 'inactive'] as const;
type Scope = (typeof scopes)[number];
const tabNames: Record<Scope, string> = { active: 'Active', inactive: 'Inactive' };

type PageQuery = { scope?: Scope | undefined; page?: number; per_page?: number };

export const listView = async (
  visit: Visit,
  project: Project,
  query: PageQuery = {},
  state: ScheduleState = unsent(getBlank(project)),
): Promise<View> => {
  const { call } = visit;
  const { scope } = query;
  const requestedPage = pageRequest(query);
  const path = schedulesPath(project);
  const { items, total } = await listSchedules(call.db, project.id, scope, requestedPage);
  const owners = await basicUsersById(
    call.db,
    items.flatMap(({ owner_id }) => (owner_id === null ? [] : [owner_id])),
  );
  const lines = items.map((schedule) => ({
    visit,
    project,
    schedule,
    owner: owners.get(schedule.owner_id ?? 0),
  }));
  const fresh = html`<h2 id="new">New schedule</h2>
<p>Its pipelines run with your rights.</p>
${scheduleForm(visit, { action: path, submit: 'Create schedule' }, state)}`;
  const content = html`${choiceTabs({ label: 'Schedules by state', path, param: 'scope', chosen: scope, names: tabNames })}
<p class="quiet">${spellCount(total, 'schedule')}</p>
${lines.length > 0 && table(lines)}
${pagesNav({ path, query: { scope }, page: requestedPage, total })}
${may(call.viewer, 'admin_schedule', project) && fresh}`;
  return projectView(visit, { project, title: 'Schedules', noun: 'pipeline_schedules' }, content);
};

export const listPages = [
  page({
    method: 'GET',
    path: schedulesRoutePath,
    audience: 'user',
    params: object({ ...projectPath, scope: optional(oneOf(scopes)), ...pageParams }),
    handle: async (visit, { project, ...query }) =>
      await listView(visit, await findProjectFor(visit.call, project, 'read_pipeline'), query),
  }),
];
