/** The list of access tokens of a project or group, with the form that creates one. */
import { levels } from '../../../../core/access/levels.ts';
import { tokenJson } from '../../../../identity/tokens/json.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import { type AccessToken, listAccessTokens } from '../../../../projects/access_tokens/queries.ts';
import { accessTokenScopes } from '../../../../projects/access_tokens/write.ts';
import type { Source, SourceKind } from '../../../../projects/members/member_source.ts';
import { checkboxes, form, input, select } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type FormState, unsent } from '../../parts/fields/form_page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { moment } from '../../parts/timestamp.ts';
import type { View, Visit } from '../../page.ts';
import type { SettingsList } from '../ci/owner_settings_routes.ts';
import { nameRole } from '../../parts/projects/role.ts';
import {
  type FilledToken,
  type TokenState,
  expiryFields,
  lastUse,
  stateTabs,
  tokenBadge,
} from '../tokens/token_form.ts';

/** A project or group whose tokens the visitor administers. */
export type TokenPlace = Pick<SettingsList, 'path' | 'view'> & { kind: SourceKind; source: Source };

export type FilledAccessToken = FilledToken & { access_level: number };

const blank: FilledAccessToken = { name: '', scopes: [], access_level: levels.developer, life: '30' };

const scopeMeanings: { [S in (typeof accessTokenScopes)[number]]: string } = {
  api: 'Full access to the API, within the role',
  read_api: 'Read access to the API',
  read_repository: 'Read the code',
  write_repository: 'Read and write the code',
  create_runner: 'Create runners',
};

const newForm = (
  visit: Visit,
  { kind, source, path }: TokenPlace,
  filled: FilledAccessToken,
  problems: FormProblems,
): Html =>
  form(
    visit,
    { action: path, submit: 'Create token', problems },
    input({
      name: 'name',
      label: 'Name',
      hint: 'What the token is used for. Its bot has the same name.',
      value: filled.name,
      required: true,
      problems,
    }),
    select({
      name: 'access_level',
      label: 'Role',
      value: String(filled.access_level),
      options: kind.roles
        .filter((role) => role <= source.level)
        .map((role) => [String(role), nameRole(role)] as const),
      problems,
    }),
    checkboxes({
      name: 'scopes',
      label: 'Scopes',
      hint: 'Select only what the token needs.',
      values: filled.scopes,
      boxes: accessTokenScopes.map((scope) => ({ value: scope, label: scope, hint: scopeMeanings[scope] })),
      problems,
    }),
    expiryFields(visit.call.now, filled, problems),
  );

const row = (visit: Visit, { path, source }: TokenPlace, token: AccessToken): Html => {
  const json = tokenJson(token, visit.call.now);
  const formOf = (action: string, submit: string, danger: boolean): Html =>
    form(visit, {
      action: `${path}/${token.id}/${action}`,
      submit,
      name: `${submit} ${token.name}`,
      danger,
      isQuiet: true,
    });
  const mayRotate = (token.access_level ?? 0) <= source.level;
  return html`<tr>
<th scope="row">${token.name}<br>${tokenBadge(json)}</th>
<td>${token.access_level === null ? 'None' : nameRole(token.access_level)}</td>
<td>${json.scopes.join(' ')}</td>
<td>${moment(token.created_at)}</td>
<td>${token.expires_at ?? 'Never'}</td>
<td>${lastUse(token)}</td>
<td>${json.active && html`<div class="buttons">${mayRotate && formOf('rotate', 'Rotate', false)}${formOf('revoke', 'Revoke', true)}</div>`}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  place: TokenPlace,
  tokens: readonly AccessToken[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Tokens"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Scopes</th><th scope="col">Created</th>
<th scope="col">Expires</th><th scope="col">Last used</th><th scope="col">Actions</th></tr></thead>
<tbody>${tokens.map((token) => row(visit, place, token))}</tbody>
</table></div>`;

type ListQuery = { state?: TokenState; page?: number; per_page?: number };

/** Renders the page. @param state the form of a new token */
export const tokensView = async (
  visit: Visit,
  place: TokenPlace,
  { state = 'active', ...listQuery }: ListQuery,
  { values, problems }: FormState<FilledAccessToken> = unsent(blank),
): Promise<View> => {
  const { call } = visit;
  const { path, source, kind } = place;
  const page = pageRequest(listQuery);
  const { items, total } = await listAccessTokens(call.db, source, { state }, { ...page, now: call.now });
  const none = state === 'active' ? 'No active tokens.' : 'No revoked or expired tokens.';
  const content = html`<p>Use these tokens for programs instead of a personal token. Each token belongs to a bot user that is a member of the ${kind.noun} with the role of the token until the token expires.</p>
${stateTabs(path, state)}
${items.length === 0 ? html`<p>${none}</p>` : table(visit, place, items)}
${pagesNav({ path, query: { state: state === 'active' ? undefined : state }, page, total })}
<section class="card" aria-labelledby="new_title"><header><h2 id="new_title">Create a token</h2></header>
<div class="body">${newForm(visit, place, values, problems)}</div></section>
<p class="quiet">Rotating replaces a token with a new token that expires in a week. The old token stops working immediately.</p>`;
  const view = place.view(visit, 'Access tokens', content);
  return withFormStatus(view, problems);
};
