import { object } from '../../../../platform/http/schema.ts';
import { endSession } from '../../../../identity/sessions/end.ts';
import { toAsciiUrl } from '../../../../core/settings/setting_effects.ts';
import { page, redirect } from '../../page.ts';
import { signInPages } from './sign_in.ts';

const signOut = page({
  method: 'POST',
  path: '/users/sign_out',
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({}),
  handle: async (visit) => {
    const { call } = visit;
    if (call.actor !== null) await endSession(call, call.actor.credential.id);
    visit.changeSession(null);
    const away = toAsciiUrl(call.settings.after_sign_out_path);
    return away === null ? redirect('/users/sign_in', 'You are signed out.') : redirect(away);
  },
});

export const pages = [...signInPages, signOut];
