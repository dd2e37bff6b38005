/** Signs out, and ends an impersonation. */
import { object } from '../../../../platform/http/schema.ts';
import { requireActor } from '../../../../core/access/call.ts';
import { endBothSessions, endImpersonation } from '../../../../identity/sessions/impersonate.ts';
import { endSession } from '../../../../identity/sessions/end_session.ts';
import { toAsciiUrl } from '../../../../core/settings/setting_effects.ts';
import { page, redirect } from '../../page.ts';

const signOut = page({
  method: 'POST',
  path: '/users/sign_out',
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({}),
  handle: async (visit) => {
    const { call } = visit;
    if (call.actor !== null && call.actor.sudo_by_id !== null) {
      await endBothSessions(call);
      visit.keepImpersonator(null);
    } else if (call.actor !== null) await endSession(call, call.actor.credential.id);
    visit.changeSession(null);
    const target = toAsciiUrl(call.settings.after_sign_out_path);
    return target === null ? redirect('/users/sign_in', 'You are signed out.') : redirect(target);
  },
});

const stopImpersonating = page({
  method: 'POST',
  path: '/users/stop_impersonating',
  audience: 'user',
  withoutRequiredFactor: true,
  params: object({}),
  handle: async (visit) => {
    const { call, impersonatorSecret } = visit;
    const { user } = requireActor(call);
    const isOwn = await endImpersonation(call, impersonatorSecret);
    visit.keepImpersonator(null);
    visit.changeSession(isOwn ? impersonatorSecret : null);
    return redirect(`/admin/users/${user.id}`, `You stopped impersonating ${user.username}.`);
  },
});

export const signOutPages = [signOut, stopImpersonating];
