/** Sessions of a user, for administrators. */
import { endSessionOf } from '../../../../../identity/sessions/end_session.ts';
import { type SessionRow, listSessions } from '../../../../../identity/sessions/list_sessions.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { form } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { moment } from '../../../parts/timestamp.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { accessTable } from './access_table.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const sessionRow = (visit: Visit, userId: number, session: SessionRow): Html => html`<tr>
<th scope="row">${session.user_agent === '' ? 'Unknown browser' : session.user_agent}</th>
<td>${session.ip}</td><td>${session.impersonator_session_id === null ? (session.provider ?? 'Password') : 'Impersonation'}</td>
<td>${moment(session.signed_in_at)}</td><td>${moment(session.last_seen_at)}</td>
<td>${form(visit, { action: `${usersPath}/${userId}/sessions/${session.id}/end`, submit: 'End session', name: `End session ${session.id}`, danger: true })}</td>
</tr>
`;

export const sessionPages = [
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
          : accessTable(
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
