/** Handlers of the buttons by which administrators change a user. */
import { requireActor } from '../../../../../core/access/call.ts';
import { startImpersonation } from '../../../../../identity/sessions/impersonate.ts';
import { removeFactorOf } from '../../../../../identity/two_factor/remove_factor.ts';
import { setBlocked } from '../../../../../identity/users/block.ts';
import { resetPassword } from '../../../../../identity/users/reset_password.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { html } from '../../../parts/html.ts';
import { page, redirect } from '../../../page.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const params = object({ id: id() });

const blocking = (word: 'block' | 'unblock', notice: string) =>
  page({
    method: 'POST',
    path: `${usersPath}/:id/${word}`,
    audience: 'admin',
    params,
    handle: async ({ call }, { id: userId }) => {
      await setBlocked(call.platform.store, requireActor(call), userId, word === 'block');
      return redirect(`${usersPath}/${userId}`, notice);
    },
  });

const newPassword = page({
  method: 'POST',
  path: `${usersPath}/:id/reset_password`,
  audience: 'admin',
  params,
  handle: async (visit, { id: userId }) => {
    const { call } = visit;
    const user = await loadChangeable(visit, userId);
    const password = await resetPassword(call.platform, requireActor(call), userId, null);
    const content = html`<p>The password of ${user.username} was reset and all their sessions ended. Copy the new one now:
it is not shown again.</p>
<code class="secret">${password}</code>
<p>Send it over a secure channel, and ask the user to <strong>change it</strong> after signing in.</p>
<p><a href="${usersPath}/${userId}">Back to ${user.name}</a></p>`;
    return userView(visit, { user, tab: '', title: 'New password' }, content);
  },
});

const withoutFactor = page({
  method: 'POST',
  path: `${usersPath}/:id/disable_two_factor`,
  audience: 'admin',
  params,
  handle: async (visit, { id: userId }) => {
    const { call } = visit;
    const user = await loadChangeable(visit, userId);
    await call.write(async (tx) => await removeFactorOf(tx, requireActor(call), call, userId));
    return redirect(`${usersPath}/${userId}`, `${user.username} now signs in with only the password.`);
  },
});

const impersonate = page({
  method: 'POST',
  path: `${usersPath}/:id/impersonate`,
  audience: 'admin',
  params,
  handle: async (visit, { id: userId }) => {
    const secret = await startImpersonation(visit.call, userId);
    visit.keepImpersonator(visit.sessionSecret);
    visit.changeSession(secret);
    return redirect('/');
  },
});

export const actionPages = [
  impersonate,
  blocking('block', 'The user was blocked.'),
  blocking('unblock', 'The user can sign in again.'),
  newPassword,
  withoutFactor,
];
