/** Personal access tokens and impersonation tokens of a user, for administrators. */
import { requireActor } from '../../../../../core/access/call.ts';
import { today } from '../../../../../core/access/viewer.ts';
import { createToken } from '../../../../../identity/tokens/create.ts';
import { tokenJson } from '../../../../../identity/tokens/json.ts';
import {
  type TokenKind,
  type TokenRow,
  findToken,
  listTokens,
} from '../../../../../identity/tokens/queries.ts';
import { revokeToken } from '../../../../../identity/tokens/revoke.ts';
import { tokenScopes } from '../../../../../identity/tokens/rules.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { invalid, notFound } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object, oneOf } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { form, hidden } from '../../../parts/form.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { moment } from '../../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { newTokenView } from '../../tokens/new_token_view.ts';
import { scopeMeaningsForOthers } from '../../tokens/scope_descriptions.ts';
import {
  type FilledToken,
  chosenEnd,
  fromSent,
  lastUse,
  newTokenFields,
  newTokenParams,
} from '../../tokens/token_form.ts';
import { accessTable } from './access_table.ts';
import { addCard } from './add_card.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const kindNames: Record<TokenKind, string> = {
  personal: 'Personal access tokens',
  impersonation: 'Impersonation tokens',
};

const kindMeanings: Record<TokenKind, string> = {
  personal: 'The user sees these tokens, and can revoke them.',
  impersonation: 'Programs act as the user with these tokens. Only administrators see them.',
};

const kinds = Object.keys(kindNames) as TokenKind[];

const kindParam = { kind: { ...oneOf(kinds), default: 'personal' as const } };

const blank: FilledToken = { name: '', scopes: [], life: '30' };

const tokenRow = (visit: Visit, token: TokenRow): Html => {
  const { active, revoked, scopes } = tokenJson(token, visit.call.now);
  const action = `${usersPath}/${token.user_id}/tokens/${token.id}/revoke`;
  const ended = revoked ? 'Revoked' : 'Expired';
  return html`<tr>
<th scope="row">${token.name}</th><td>${scopes.join(' ')}</td>
<td>${moment(token.created_at)}</td><td>${lastUse(token)}</td><td>${token.expires_at ?? 'Never'}</td>
<td>${active ? form(visit, { action, submit: 'Revoke', name: `Revoke ${token.name}`, danger: true }) : ended}</td>
</tr>
`;
};

/** Tokens of one kind of a user. */
type TokenList = { user: UserRow; kind: TokenKind };

const pathOf = ({ user, kind }: TokenList): string => `${usersPath}/${user.id}/tokens?kind=${kind}`;

const newForm = (
  visit: Visit,
  { user, kind }: TokenList,
  { values, problems }: FormState<FilledToken>,
): Html => {
  const scopes = tokenScopes
    .filter((scope) => user.admin === 1 || scope !== 'sudo')
    .map((scope) => [scope, scopeMeaningsForOthers[scope]] as const);
  return form(
    visit,
    { action: `${usersPath}/${user.id}/tokens`, submit: 'Create token', problems },
    hidden('kind', kind),
    newTokenFields(visit.call.now, scopes, { values, problems }),
  );
};

const heads = ['Name', 'Scopes', 'Created', 'Last used', 'Expires', 'Action'];

const listView = async (
  visit: Visit,
  { user, kind }: TokenList,
  state: FormState<FilledToken>,
  query: { page?: number; per_page?: number } = {},
): Promise<View> => {
  const { db, now } = visit.call;
  const at = pageRequest(query);
  const { rows, total } = await listTokens(db, { filter: { kind, user_id: user.id }, page: at, now });
  const links = kinds.map((one) => ({
    path: pathOf({ user, kind: one }),
    name: kindNames[one],
    isHere: one === kind,
  }));
  const list =
    rows.length === 0
      ? html`<div class="card">${emptyState({ icon: 'key', title: 'No tokens' })}</div>`
      : accessTable(
          kindNames[kind],
          heads,
          rows.map((token) => tokenRow(visit, token)),
        );
  const content = html`${tabs('Kind of token', links)}
<p>${kindMeanings[kind]}</p>
${list}
${pagesNav({ path: `${usersPath}/${user.id}/tokens`, query: { kind }, page: at, total })}
${await addCard(visit, user, 'Create a token', newForm(visit, { user, kind }, state))}`;
  return userView(visit, { user, tab: 'tokens', title: `Access tokens of ${user.name}` }, content);
};

const list = page({
  method: 'GET',
  path: `${usersPath}/:id/tokens`,
  audience: 'admin',
  params: object({ id: id(), ...kindParam, ...pageParams }),
  handle: async (visit, { id: userId, kind, ...query }) =>
    await listView(visit, { user: await loadChangeable(visit, userId), kind }, unsent(blank), query),
});

const create = formPage({
  path: `${usersPath}/:id/tokens`,
  audience: 'admin',
  address: { id: id(), ...kindParam },
  fields: newTokenParams,
  find: async (visit, address) => ({ user: await loadChangeable(visit, address.id), kind: address.kind }),
  fromSent,
  run: async (visit, { user, kind }, params) => {
    const { call } = visit;
    if (typeof params.expires_at === 'string' && params.expires_at <= today(call.now))
      throw invalid({ expires_at: ['must be in the future'] });
    const { name, scopes } = params;
    const expires_at = chosenEnd(params, call.now);
    const by = { cause: requireActor(call), source: call };
    const { text } = await createToken(call.platform, by, {
      user_id: user.id,
      kind,
      name,
      scopes,
      expires_at,
    });
    const place = {
      path: pathOf({ user, kind }),
      view: (_visit: Visit, title: string, content: Html) =>
        userView(visit, { user, tab: 'tokens', title }, content),
    };
    return newTokenView(visit, place, { name, text, expires_at });
  },
  view: async (visit, user, state) => await listView(visit, user, state),
});

const revoke = page({
  method: 'POST',
  path: `${usersPath}/:id/tokens/:token_id/revoke`,
  audience: 'admin',
  params: object({ id: id(), token_id: id() }),
  handle: async ({ call }, { id: user_id, token_id }) => {
    const tokens = await Promise.all(
      kinds.map(async (kind) => await findToken(call.db, token_id, { kind, user_id })),
    );
    const token = tokens.find((one) => one !== undefined);
    if (token === undefined) throw notFound('Token');
    await revokeToken(call, token);
    return redirect(`${usersPath}/${user_id}/tokens?kind=${token.kind}`, 'The token was revoked.');
  },
});

export const tokenPages = [list, create, revoke];
