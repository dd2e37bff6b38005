/** Sessions, SSH keys and access tokens of a user, for administrators. */
import { deleteKey } from '../../../../../identity/keys/delete.ts';
import { type KeyRow, listKeys } from '../../../../../identity/keys/queries.ts';
import { endSessionOf } from '../../../../../identity/sessions/end_session.ts';
import { type SessionRow, listSessions } from '../../../../../identity/sessions/list_sessions.ts';
import { tokenJson } from '../../../../../identity/tokens/json.ts';
import {
  type TokenKind,
  type TokenRow,
  findToken,
  listTokens,
} from '../../../../../identity/tokens/queries.ts';
import { revokeToken } from '../../../../../identity/tokens/revoke.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object, oneOf } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form } from '../../../parts/form.ts';
import { tabs } from '../../../parts/frame/tabs_and_side_nav.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { lastUse } from '../../tokens/token_form.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const table = (label: string, heads: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`;

const sessionRow = (visit: Visit, userId: number, session: SessionRow): Html => html`<tr>
<th scope="row">${session.user_agent === '' ? 'Unknown browser' : session.user_agent}</th>
<td>${session.ip}</td><td>${session.impersonator_session_id === null ? (session.provider ?? 'Password') : 'Impersonation'}</td>
<td>${moment(session.signed_in_at)}</td><td>${moment(session.last_seen_at)}</td>
<td>${form(visit, { action: `${usersPath}/${userId}/sessions/${session.id}/end`, submit: 'End session', name: `End session ${session.id}`, danger: true })}</td>
</tr>
`;

const sessionPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/sessions`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      const user = await loadChangeable(visit, params.id);
      const { db, now, settings } = visit.call;
      const sessions = await listSessions(db, user.id, { now, settings });
      const heads = ['Browser', 'IP address', 'Method', 'Signed in', 'Last seen', 'Action'];
      const content =
        sessions.length === 0
          ? html`<div class="card">${emptyState({ icon: 'user', title: 'No sessions', text: 'The user is not signed in anywhere.' })}</div>`
          : table(
              'Sessions',
              heads,
              sessions.map((session) => sessionRow(visit, user.id, session)),
            );
      return userView(visit, { user, tab: 'sessions', title: `Sessions of ${user.name}` }, content);
    },
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/sessions/:session_id/end`,
    audience: 'admin',
    params: object({ id: id(), session_id: id() }),
    handle: async ({ call }, { id: userId, session_id }) => {
      await endSessionOf(call, userId, session_id);
      return redirect(`${usersPath}/${userId}/sessions`, 'The session was ended.');
    },
  }),
];

const keyRow = (visit: Visit, userId: number, key: KeyRow): Html => html`<tr>
<th scope="row">${key.title}<br><code class="quiet">${key.fingerprint_sha256}</code></th>
<td>${moment(key.created_at)}</td><td>${momentOr(key.last_used_at, 'Never')}</td><td>${momentOr(key.expires_at, 'Never')}</td>
<td>${form(visit, { action: `${usersPath}/${userId}/keys/${key.id}/delete`, submit: 'Delete', name: `Delete ${key.title}`, danger: true })}</td>
</tr>
`;

const keyPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/keys`,
    audience: 'admin',
    params: object({ id: id(), ...pageParams }),
    handle: async (visit, { id: userId, ...query }) => {
      const user = await loadChangeable(visit, userId);
      const wanted = pageRequest(query);
      const { items, total } = await listKeys(visit.call.db, user.id, wanted);
      const heads = ['Key', 'Created', 'Last used', 'Expires', 'Action'];
      const content =
        items.length === 0
          ? html`<div class="card">${emptyState({ icon: 'key', title: 'No SSH keys' })}</div>`
          : html`${table(
              'SSH keys',
              heads,
              items.map((key) => keyRow(visit, user.id, key)),
            )}
${pagesNav({ path: `${usersPath}/${user.id}/keys`, query: {}, page: wanted, total })}`;
      return userView(visit, { user, tab: 'keys', title: `SSH keys of ${user.name}` }, content);
    },
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/keys/:key_id/delete`,
    audience: 'admin',
    params: object({ id: id(), key_id: id() }),
    handle: async ({ call }, { id: userId, key_id }) => {
      await deleteKey(call, userId, key_id);
      return redirect(`${usersPath}/${userId}/keys`, 'The key was deleted.');
    },
  }),
];

const kindNames: Record<TokenKind, string> = {
  personal: 'Personal access tokens',
  impersonation: 'Impersonation tokens',
};

const kinds = Object.keys(kindNames) as TokenKind[];

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

const tokenPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/tokens`,
    audience: 'admin',
    params: object({ id: id(), kind: { ...oneOf(kinds), default: 'personal' as const }, ...pageParams }),
    handle: async (visit, { id: userId, kind, ...query }) => {
      const user = await loadChangeable(visit, userId);
      const { db, now } = visit.call;
      const wanted = pageRequest(query);
      const { rows, total } = await listTokens(db, { filter: { kind, user_id: user.id }, page: wanted, now });
      const path = `${usersPath}/${user.id}/tokens`;
      const links = kinds.map((one) => ({
        path: `${path}?kind=${one}`,
        name: kindNames[one],
        isHere: one === kind,
      }));
      const heads = ['Name', 'Scopes', 'Created', 'Last used', 'Expires', 'Action'];
      const content = html`${tabs('Kind of token', links)}
${
  rows.length === 0
    ? html`<div class="card">${emptyState({ icon: 'key', title: 'No tokens' })}</div>`
    : table(
        kindNames[kind],
        heads,
        rows.map((token) => tokenRow(visit, token)),
      )
}
${pagesNav({ path, query: { kind }, page: wanted, total })}`;
      return userView(visit, { user, tab: 'tokens', title: `Access tokens of ${user.name}` }, content);
    },
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/tokens/:token_id/revoke`,
    audience: 'admin',
    params: object({ id: id(), token_id: id() }),
    handle: async ({ call }, { id: user_id, token_id }) => {
      const found = await Promise.all(
        kinds.map(async (kind) => await findToken(call.db, token_id, { kind, user_id })),
      );
      const token = found.find((one) => one !== undefined);
      if (token === undefined) throw notFound('Token');
      await revokeToken(call, token);
      return redirect(`${usersPath}/${user_id}/tokens?kind=${token.kind}`, 'The token was revoked.');
    },
  }),
];

export const accessPages = [...sessionPages, ...keyPages, ...tokenPages];
