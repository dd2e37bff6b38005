/** Lists the runners of the instance, a group or a project, with their status and actions. */
import type { Static } from 'typebox';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object, oneOf, optional } from '../../../../platform/http/schema.ts';
import { type RunnerStatus, runnerStatuses, getRunnerStatus } from '../../../../ci/jobs/runner_json.ts';
import {
  type Overview,
  loadRunnerOverviews,
  listUnsandboxedRunners,
} from '../../../../ci/runners/lists/runner_overviews.ts';
import { type SeenRunner, listRunners } from '../../../../ci/runners/lists/queries.ts';
import { parseTags } from '../../../../ci/runners/rules.ts';
import { unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { momentOr } from '../../parts/timestamp.ts';
import { choiceTabs } from '../../parts/frame/tabs_and_side_nav.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { SettingsList, SettingsListRoute } from '../ci/owner_settings_routes.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { type RunnerState, blank, runnerForm } from './form.ts';
import { runnersOf } from './owner_runners.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

const states: Record<RunnerStatus, readonly [mark: string, word: string]> = {
  online: ['●', 'Online'],
  offline: ['○', 'Offline'],
  stale: ['○', 'No contact for a week'],
  never_contacted: ['◌', 'Never contacted'],
};

const types = { instance_type: 'of the instance', group_type: 'of a group', project_type: 'of projects' };

const filters = { status: optional(oneOf([...runnerStatuses, 'paused'] as const)), ...pageParams };
const shape = object(filters);

type PageQuery = Partial<Static<typeof shape>>;

const badge = (text: string): Html => html` <span class="badge">${text}</span>`;

const traits = (runner: SeenRunner): Html =>
  html`${runner.active === 0 && badge('Paused')}${
    runner.locked === 1 && badge('Locked')
  }${runner.access_level === 'ref_protected' && badge('Protected refs only')}${
    runner.run_untagged === 0 && badge('Tagged jobs only')
  }`;

const actions = (
  visit: Visit,
  { path, owner }: SettingsList,
  { id, active, edits, runner_type }: SeenRunner,
): Html => {
  const act = (verb: string, label: string, danger = false): Html =>
    button(visit, `${path}/${id}/${verb}`, { label, name: `${label} runner ${id}`, danger });
  return html`${
    edits === 1 &&
    html`<a class="button small" href="${path}/${id}" aria-label="Edit runner ${id}">Edit</a> ${active === 1 ? act('pause', 'Pause') : act('resume', 'Resume')}
${act('delete', 'Delete', true)}`
  }${owner.scope === 'project' && runner_type === 'project_type' && act('disable', 'Disable', true)}`;
};

type Line = { visit: Visit; list: SettingsList; runner: SeenRunner; overview: Overview | undefined };

const line = ({ visit, list, runner, overview }: Line): Html => {
  const status = getRunnerStatus(runner, visit.call.now);
  const [mark, word] = states[status];
  const tags = parseTags(runner);
  return html`<tr>
<th scope="row" id="runner_${runner.id}">#${runner.id} ${runner.description}<br><span class="quiet">${types[runner.runner_type]}${
    overview?.isBuiltIn === true && ', built in'
  }</span></th>
<td><span class="badge${status === 'online' && ' good'}"><span aria-hidden="true">${mark}</span> ${word}</span>${traits(runner)}</td>
<td>${momentOr(runner.contacted_at, 'Never')}</td>
<td>${overview?.version}${overview?.executor !== null && html`<br><code>${overview?.executor}</code>`}</td>
<td>${tags.join(', ')}</td>
<td>${overview?.jobs ?? 0}</td>
<td>${actions(visit, list, runner)}</td>
</tr>
`;
};

const table = (
  lines: readonly Line[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Runners"><table>
<thead><tr><th scope="col">Runner</th><th scope="col">State</th><th scope="col">Last contact</th>
<th scope="col">Version, executor</th><th scope="col">Tags</th><th scope="col">Running jobs</th><th scope="col">Actions</th></tr></thead>
<tbody>${lines.map(line)}</tbody>
</table></div>`;

const tabNames = {
  ...Object.fromEntries(runnerStatuses.map((status) => [status, states[status][1]])),
  paused: 'Paused',
};

/** A warning for administrators, because only they can fix it. */
const openRunners = (ids: readonly number[]): Html | null =>
  ids.length === 0
    ? null
    : html`<p class="flash alert">The built-in runner (${ids.map((id) => `#${id}`).join(', ')}) runs jobs without a sandbox:
anyone who may push to a project can run commands on this machine. To fix this, install <code>bubblewrap</code> and <code>slirp4netns</code>
(or podman or docker, with <code>GANTRY_RUNNER_EXECUTOR=container</code>), do not set <code>GANTRY_RUNNER_EXECUTOR=shell</code>, and start the service again.
<code>GANTRY_RUNNER_EXECUTOR=none</code> runs no jobs here at all.</p>
`;

const registration = (visit: Visit, { path }: SettingsList): Html => html`<h2>Registration token</h2>
<p>Runner programs register with this token. It is shown once, when it is created; the old one then becomes invalid.</p>
${button(visit, `${path}/reset_registration_token`, { label: 'Reset registration token', danger: true })}`;

export const listView = async (
  visit: Visit,
  list: SettingsList,
  query: PageQuery = {},
  state: RunnerState = unsent(blank),
): Promise<View> => {
  const { call } = visit;
  const { status } = query;
  const requestedPage = pageRequest(query);
  const { items, total } = await listRunners(call, runnersOf(list.owner), { status }, requestedPage);
  const [overviews, open] = await Promise.all([
    loadRunnerOverviews(
      call.db,
      items.map(({ id }) => id),
    ),
    list.owner.scope === 'instance' ? listUnsandboxedRunners(call.db) : [],
  ]);
  const lines = items.map((runner) => ({ visit, list, runner, overview: overviews.get(runner.id) }));
  const content = html`${openRunners(open)}${list.above}${choiceTabs({ label: 'Runners by state', path: list.path, param: 'status', chosen: status, names: tabNames })}
<p class="quiet">${spellCount(total, 'runner')}</p>
${lines.length > 0 && table(lines)}
${pagesNav({ path: list.path, query: { status }, page: requestedPage, total })}
<h2 id="new">New runner</h2>
${runnerForm(visit, { action: list.path, submit: 'Create runner' }, state)}
${registration(visit, list)}`;
  return list.view(visit, 'Runners', content);
};

export const listPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...filters }),
    handle: async (visit, params) => await listView(visit, await kind.find(visit, params), params),
  });
