import { requireUser } from '../../../../core/access/call.ts';
import { today } from '../../../../core/access/viewer.ts';
import { invalid, notFound } from '../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { tokenJson } from '../../../../identity/tokens/json.ts';
import { createOwnToken } from '../../../../identity/tokens/create_own_token.ts';
import { type TokenRow, findToken, listTokens } from '../../../../identity/tokens/queries.ts';
import { resetFeedAddresses } from '../../../../identity/tokens/reset_feed_addresses.ts';
import { revokeToken } from '../../../../identity/tokens/revoke.ts';
import { rotateToken } from '../../../../identity/tokens/rotate.ts';
import { tokenScopes } from '../../../../identity/tokens/rules.ts';
import { form } from '../../parts/form.ts';
import { type FormProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { scopeMeanings } from './scope_descriptions.ts';
import {
  type FilledToken,
  type TokenState,
  fromSent,
  chosenEnd,
  lastUse,
  newTokenFields,
  newTokenParams,
  stateTabs,
  tokenBadge,
} from './token_form.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const path = '/profile/personal_access_tokens';
const resetPath = '/profile/feed_addresses/reset';
const title = 'Personal access tokens';

const blank: FilledToken = { name: '', scopes: [], life: '30' };

const newForm = (visit: Visit, filled: FilledToken, problems: FormProblems): Html => {
  const { now, admin } = visit.call;
  const scopes = tokenScopes
    .filter((scope) => admin || scope !== 'sudo')
    .map((scope) => [scope, scopeMeanings[scope]] as const);
  return form(
    visit,
    { action: path, submit: 'Create token', problems },
    newTokenFields(now, scopes, { values: filled, problems }),
  );
};

const row = (visit: Visit, token: TokenRow): Html => {
  const json = tokenJson(token, visit.call.now);
  const formOf = (action: string, submit: string, danger: boolean): Html =>
    form(visit, {
      action: `${path}/${token.id}/${action}`,
      submit,
      name: `${submit} ${token.name}`,
      danger,
      isQuiet: true,
    });
  return html`<tr>
<th scope="row">${token.name}<br>${tokenBadge(json)}</th>
<td>${json.scopes.join(' ')}</td>
<td>${moment(token.created_at)}</td>
<td>${token.expires_at ?? 'Never'}</td>
<td>${lastUse(token)}</td>
<td>${json.active && html`<div class="buttons">${formOf('rotate', 'Rotate', false)}${formOf('revoke', 'Revoke', true)}</div>`}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  tokens: readonly TokenRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Tokens"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Scopes</th><th scope="col">Created</th>
<th scope="col">Expires</th><th scope="col">Last used</th><th scope="col">Actions</th></tr></thead>
<tbody>${tokens.map((token) => row(visit, token))}</tbody>
</table></div>`;

const listParams = object({ state: optional(oneOf(['active', 'inactive'])), ...pageParams });

type Listed = { state?: TokenState | undefined; page?: number; per_page?: number };

const listView = async (
  visit: Visit,
  { state = 'active', ...listQuery }: Listed = {},
  { values, problems }: FormState<FilledToken> = unsent(blank),
): Promise<View> => {
  const { db, now } = visit.call;
  const requestedPage = pageRequest(listQuery);
  const filter = { kind: 'personal', user_id: requireUser(visit.call).id, state } as const;
  const { rows, total } = await listTokens(db, { filter, page: requestedPage, now });
  const none = state === 'active' ? 'You have no active tokens.' : 'You have no revoked or expired tokens.';
  const query = { state: state === 'active' ? undefined : state };
  const list = html`<h2>Your tokens</h2>
${stateTabs(path, state)}
${rows.length === 0 ? html`<p>${none}</p>` : table(visit, rows)}
${pagesNav({ path, query, page: requestedPage, total })}
<p class="quiet">Rotating replaces a token with a new token that expires in a week. The old token stops working immediately.</p>`;
  const content = html`<p>Programs use these tokens to access the API and git on your behalf, without your password.</p>
${list}
<h2 id="new">Create a token</h2>
${newForm(visit, values, problems)}
<h2>Feeds and calendars</h2>
<p>The addresses of feeds and calendars contain a token, so other programs can read them on your behalf. If one leaks, reset all of them and subscribe again.</p>
${form(visit, { action: resetPath, submit: 'Reset feed addresses', isQuiet: true })}`;
  const view = accountView(path, title, content);
  return withFormStatus(view, problems);
};

const madeView = (text: string, name: string, expires: string | null): View =>
  accountView(
    path,
    'Token created',
    html`<p>Copy the token <strong>${name.trim()}</strong> now: it is not shown again.</p>
<p><code class="secret">${text}</code></p>
<p>${expires === null ? 'It does not expire.' : `It expires on ${expires}.`} Anyone who has it can act on your behalf within its scopes.</p>
<p><a class="button" href="${path}">I have copied it</a></p>`,
  );

const create = formPage({
  path,
  audience: 'user',
  address: {},
  fields: { ...newTokenParams, name: text({ maxLength: 2000 }) },
  find: async () => null,
  fromSent,
  run: async ({ call }, _found, params) => {
    const day = params.expires_at ?? null;
    // Stricter than the API, whose response shows immediately that the token has expired.
    if (day !== null && day <= today(call.now)) throw invalid({ expires_at: ['must be in the future'] });
    const expires_at = chosenEnd(params, call.now);
    const { text: secret } = await createOwnToken(call, { ...params, expires_at });
    return madeView(secret, params.name, expires_at);
  },
  view: async (visit, _found, state) => await listView(visit, {}, state),
});

/** Loads a token of the visitor. @throws Failure 404 */
const findOwn = async ({ call }: Visit, tokenId: number): Promise<TokenRow> => {
  const token = await findToken(call.db, tokenId, { kind: 'personal', user_id: requireUser(call).id });
  if (token === undefined) throw notFound();
  return token;
};

const revoke = page({
  method: 'POST',
  path: `${path}/:id/revoke`,
  audience: 'user',
  params: object({ id: id() }),
  handle: async (visit, params) => {
    const token = await findOwn(visit, params.id);
    await revokeToken(visit.call, token);
    return redirect(path, `The token ${token.name} was revoked.`);
  },
});

const ended: FormProblems = { text: 'The token was revoked or has expired.', fields: {} };

const rotate = page({
  method: 'POST',
  path: `${path}/:id/rotate`,
  audience: 'user',
  params: object({ id: id() }),
  handle: async (visit, params) => {
    const token = await findOwn(visit, params.id);
    if (!tokenJson(token, visit.call.now).active)
      return await listView(visit, {}, { values: blank, problems: ended });
    const made = await rotateToken(visit.call, token, null);
    const { name, expires_at } = await findOwn(visit, made.id);
    return madeView(made.text, name, expires_at);
  },
});

export const pages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: listParams,
    handle: async (visit, query) => await listView(visit, query),
  }),
  create,
  revoke,
  rotate,
  page({
    method: 'POST',
    path: resetPath,
    audience: 'user',
    params: object({}),
    handle: async ({ call }) => {
      await resetFeedAddresses(call);
      return redirect(path, 'The former addresses of your feeds no longer work.');
    },
  }),
];
