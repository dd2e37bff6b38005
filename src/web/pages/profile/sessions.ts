import { actorOf, userOf } from '../../../access/call.ts';
import { id, object } from '../../../http/schema.ts';
import { endSession } from '../../../sessions/end.ts';
import { type SessionRow, listSessions } from '../../../sessions/list.ts';
import { form } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import { moment } from '../../moment.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { ownView } from './own_nav.ts';

const row = (visit: Visit, session: SessionRow): Html => {
  const isThis = session.id === actorOf(visit.call).credential.id;
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
<thead><tr><th scope="col">Browser</th><th scope="col">Address</th><th scope="col">Signed in</th>
<th scope="col">Last seen</th><th scope="col">Action</th></tr></thead>
<tbody>${sessions.map((session) => row(visit, session))}</tbody>
</table></div>`;

export const sessionPages = [
  page({
    method: 'GET',
    path: '/profile/sessions',
    audience: 'user',
    params: object({}),
    handle: async (visit) => {
      const { call } = visit;
      const sessions = await listSessions(call.db, userOf(call).id, call);
      const content = html`<p>Browsers in which you are signed in. Sign out of those that you do not know, and then
<a href="/profile/password">change your password</a>.</p>
${table(visit, sessions)}`;
      return ownView('/profile/sessions', 'Sessions', content);
    },
  }),
  page({
    method: 'POST',
    path: '/profile/sessions/:id/revoke',
    audience: 'user',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      await endSession(visit.call, params.id);
      return redirect('/profile/sessions', 'That browser is signed out.');
    },
  }),
];
