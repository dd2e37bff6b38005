/** Lists the CI variables of the instance, a group or a project. */
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Owner, listVariables } from '../../../../ci/variables/queries.ts';
import type { Variable } from '../../../../ci/variables/rules.ts';
import { type Html, html } from '../../parts/html.ts';
import { type AnyPage, type View, type Visit, page } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import type { SettingsOwner, SettingsList, SettingsListRoute } from '../ci/owner_settings_routes.ts';
import { button } from '../../parts/frame/project_layout.ts';
import { type VariableState, blank, variableForm } from './form.ts';
import { unsent } from '../../parts/fields/form_page.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

export const ownerOf = (owner: SettingsOwner): Owner => {
  if (owner.scope === 'instance') return { type: 'Instance', id: 0 };
  return owner.scope === 'group'
    ? { type: 'Namespace', id: owner.group.id }
    : { type: 'Project', id: owner.project.id };
};

/** Path of a variable's page, identified by key and environment scope. */
export const addressOf = (
  path: string,
  { key, environment_scope }: Pick<Variable, 'key' | 'environment_scope'>,
  verb = '',
): string => `${path}/${key}${verb}?${new URLSearchParams({ scope: environment_scope }).toString()}`;

const badge = (text: string): Html => html` <span class="badge">${text}</span>`;

const traits = (variable: Variable): Html =>
  html`${variable.variable_type === 'file' && badge('File')}${variable.protected === 1 && badge('Protected')}${
    variable.masked === 1 && badge('Masked')
  }${variable.raw === 1 && badge('Raw')}`;

const shownValue = ({ value, hidden }: Variable): Html =>
  hidden === 1
    ? html`<span class="quiet">Hidden</span>`
    : html`<details><summary>Show</summary><code class="lines">${value}</code></details>`;

type Line = { visit: Visit; list: SettingsList; variable: Variable };

const line = ({ visit, list: { path }, variable }: Line): Html => html`<tr>
<th scope="row"><code>${variable.key}</code>${traits(variable)}${
  variable.description !== null && html`<br><span class="quiet">${variable.description}</span>`
}</th>
<td>${shownValue(variable)}</td>
<td>${variable.environment_scope === '*' ? 'All jobs' : variable.environment_scope}</td>
<td><a class="button small" href="${addressOf(path, variable)}" aria-label="Edit ${variable.key}">Edit</a>
${button(visit, addressOf(path, variable, '/delete'), {
  label: 'Delete',
  name: `Delete ${variable.key}${variable.environment_scope === '*' ? '' : ` of ${variable.environment_scope}`}`,
  danger: true,
})}</td>
</tr>
`;

const table = (
  lines: readonly Line[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Variables"><table>
<thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">Environments</th><th scope="col">Actions</th></tr></thead>
<tbody>${lines.map(line)}</tbody>
</table></div>`;

const reach: Record<SettingsOwner['scope'], string> = {
  instance: 'Passed to all jobs of the instance. Variables of groups and projects take precedence.',
  group: 'Passed to jobs of all projects in the group. Variables of subgroups and projects take precedence.',
  project:
    'Passed to jobs of the project. They take precedence over variables of its groups and of the instance.',
};

export const listView = async (
  visit: Visit,
  list: SettingsList,
  query: { page?: number; per_page?: number } = {},
  state: VariableState = unsent(blank),
): Promise<View> => {
  const { path, owner } = list;
  const requestedPage = pageRequest(query);
  const { items, total } = await listVariables(visit.call.platform, ownerOf(owner), requestedPage);
  const content = html`<p>${reach[owner.scope]}</p>
${list.above}<p class="quiet">${spellCount(total, 'variable')}</p>
${items.length > 0 && table(items.map((variable) => ({ visit, list, variable })))}
${pagesNav({ path, query: {}, page: requestedPage, total })}
<h2 id="new">New variable</h2>
${variableForm(visit, { action: path, submit: 'Create variable', before: null }, state)}`;
  return list.view(visit, 'Variables', content);
};

export const listPage = (kind: SettingsListRoute): AnyPage =>
  page({
    method: 'GET',
    path: kind.routePath,
    audience: kind.audience,
    params: object({ ...kind.params, ...pageParams }),
    handle: async (visit, params) => await listView(visit, await kind.find(visit, params), params),
  });
