import { object } from '../../../http/schema.ts';
import { endSession } from '../../../sessions/end.ts';
import { plainAddress } from '../../../settings/governed.ts';
import { page, redirect } from '../../page.ts';
import { signInPages } from './sign_in.ts';

const signOut = page({
  method: 'POST',
  path: '/users/sign_out',
  audience: 'anyone',
  params: object({}),
  handle: async (visit) => {
    const { call } = visit;
    if (call.actor !== null) await endSession(call, call.actor.credential.id);
    visit.changeSession(null);
    const away = plainAddress(call.settings.after_sign_out_path);
    return away === null ? redirect('/users/sign_in', 'You are signed out.') : redirect(away);
  },
});

export const pages = [...signInPages, signOut];
