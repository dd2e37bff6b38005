import { requireActor, requireUser } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { endSession } from '../../../../identity/sessions/end_session.ts';
import { type SessionRow, listSessions } from '../../../../identity/sessions/list_sessions.ts';
import { form } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment } from '../../parts/timestamp.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

/** Hides the address and browser of an impersonating administrator from the user. */
const asShown = (session: SessionRow): SessionRow =>
  session.impersonator_session_id === null
    ? session
    : { ...session, user_agent: 'Administrator (impersonation)', ip: '' };

const row = (visit: Visit, session: SessionRow): Html => {
  const isThis = session.id === requireActor(visit.call).credential.id;
  const action = `/profile/sessions/${session.id}/revoke`;
  return html`<tr>
<th scope="row">${session.user_agent === '' ? 'Unknown browser' : session.user_agent}${
    session.provider !== null && html` <span class="badge">by ${session.provider}</span>`
  }</th>
<td>${session.ip}</td>
<td>${moment(session.created_at)}</td>
<td>${moment(session.last_seen_at)}</td>
<td>${isThis ? html`<span class="badge">This browser</span>` : form(visit, { action, submit: 'Sign out', danger: true })}</td>
</tr>
`;
};

const table = (visit: Visit, sessions: readonly SessionRow[]): Html => html`<div class="wide"><table>
<thead><tr><th scope="col">Browser</th><th scope="col">IP address</th><th scope="col">Signed in</th>
<th scope="col">Last seen</th><th scope="col">Action</th></tr></thead>
<tbody>${sessions.map((session) => row(visit, asShown(session)))}</tbody>
</table></div>`;

export const sessionPages = [
  page({
    method: 'GET',
    path: '/profile/sessions',
    audience: 'user',
    params: object({}),
    handle: async (visit) => {
      const { call } = visit;
      const sessions = await listSessions(call.db, requireUser(call).id, call);
      const content = html`<p>Browsers in which you are signed in. Sign out of any you do not recognize, then
<a href="/profile/password">change your password</a>.</p>
${table(visit, sessions)}`;
      return accountView('/profile/sessions', 'Sessions', content);
    },
  }),
  page({
    method: 'POST',
    path: '/profile/sessions/:id/revoke',
    audience: 'user',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      await endSession(visit.call, params.id);
      return redirect('/profile/sessions', 'The browser was signed out.');
    },
  }),
];
