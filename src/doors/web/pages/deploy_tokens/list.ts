/** The list of deploy tokens of a project or group, with the form that creates one. */
import { pageRequest } from '../../../../platform/http/page.ts';
import {
  type DeployToken,
  type TokenOwner,
  deployTokenScopes,
  listDeployTokens,
} from '../../../../projects/deploy_tokens/deploy_tokens.ts';
import type { DeployTokenScope } from '../../../../projects/deploy_tokens/authenticate.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { checkboxes, form, input } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { moment, momentOr } from '../../parts/timestamp.ts';
import type { View, Visit } from '../../page.ts';
import type { SettingsList } from '../ci/owner_settings_routes.ts';
import { type FilledToken, expiryFields, lastUse, tokenBadge } from '../tokens/token_form.ts';

export type DeployTokenPlace = Pick<SettingsList, 'path' | 'view'> & { tokenOwner: TokenOwner };

export type FilledDeployToken = FilledToken & { username: string };

const blank: FilledDeployToken = { name: '', username: '', scopes: [], life: 'none' };

const scopeMeanings: Record<DeployTokenScope, string> = {
  read_repository: 'Clone and fetch',
  read_registry: 'Pull images',
  write_registry: 'Push images',
};

const newForm = (visit: Visit, path: string, filled: FilledDeployToken, problems: FormProblems): Html =>
  form(
    visit,
    { action: path, submit: 'Create deploy token', problems },
    html`<div class="field-row">${input({
      name: 'name',
      label: 'Name',
      value: filled.name,
      required: true,
      problems,
    })}${input({
      name: 'username',
      label: 'User name (optional)',
      hint: 'Leave empty to generate one.',
      value: filled.username,
      autocomplete: 'off',
      problems,
    })}</div>`,
    checkboxes({
      name: 'scopes',
      label: 'Scopes',
      values: filled.scopes,
      boxes: deployTokenScopes.map((scope) => ({ value: scope, label: scope, hint: scopeMeanings[scope] })),
      problems,
    }),
    expiryFields(visit.call.now, filled, problems),
  );

const row = (visit: Visit, path: string, token: DeployToken): Html => {
  const { id, name, username, scopes, created_at, expires_at } = token;
  const active = expires_at === null || expires_at > visit.call.now;
  return html`<tr>
<th scope="row">${name}<br>${tokenBadge({ active, revoked: false })}</th>
<td><code>${username}</code></td>
<td>${(JSON.parse(scopes) as string[]).join(' ')}</td>
<td>${moment(created_at)}</td>
<td>${momentOr(expires_at, 'Never')}</td>
<td>${lastUse(token)}</td>
<td>${form(visit, { action: `${path}/${id}/revoke`, submit: 'Revoke', name: `Revoke ${name}`, danger: true, isQuiet: true })}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  path: string,
  tokens: readonly DeployToken[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Deploy tokens"><table>
<thead><tr><th scope="col">Name</th><th scope="col">User name</th><th scope="col">Scopes</th><th scope="col">Created</th>
<th scope="col">Expires</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${tokens.map((token) => row(visit, path, token))}</tbody>
</table></div>`;

type ListQuery = { page?: number; per_page?: number };

/** Renders the page. @param state the form of a new token */
export const deployTokensView = async (
  visit: Visit,
  { path, view, tokenOwner }: DeployTokenPlace,
  query: ListQuery,
  { values, problems }: FormState<FilledDeployToken> = unsent(blank),
): Promise<View> => {
  const page = pageRequest(query);
  const { items, total } = await listDeployTokens(visit.call, tokenOwner, undefined, page);
  const of = tokenOwner.project_id === null ? 'all projects of this group' : 'this project';
  const content = html`<p>A deploy token reads the code and the images of ${of}, and belongs to no user. It takes the place of a password, with its user name.</p>
${
  items.length === 0
    ? html`<div class="card">${emptyState({ icon: 'key', title: 'No deploy tokens', text: 'Servers can use one to clone over HTTP or to pull images.' })}</div>`
    : table(visit, path, items)
}
${pagesNav({ path, query: {}, page, total })}
<section class="card" aria-labelledby="new_title"><header><h2 id="new_title">Create a deploy token</h2></header>
<div class="body">${newForm(visit, path, values, problems)}</div></section>`;
  const made = view(visit, 'Deploy tokens', content);
  return withFormStatus(made, problems);
};
