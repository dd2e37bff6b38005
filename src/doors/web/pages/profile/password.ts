import { requireUser } from '../../../../core/access/call.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { changePassword, hasPassword } from '../../../../identity/sessions/change_password.ts';
import { type FormProblems, attempt, form, input, noProblems, withFormStatus } from '../../parts/form.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { currentPassword } from './current_password.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const passwordView = async (visit: Visit, problems = noProblems): Promise<View> => {
  const hasOne = await hasPassword(visit.call.db, requireUser(visit.call).id);
  const view = accountView(
    '/profile/password',
    'Password',
    form(
      visit,
      { action: '/profile/password', submit: hasOne ? 'Change password' : 'Set password', problems },
      hasOne ? currentPassword(problems) : null,
      input({
        name: 'password',
        label: 'New password',
        type: 'password',
        hint: '8 to 128 characters. You will be signed out in all other browsers.',
        autocomplete: 'new-password',
        required: true,
        problems,
      }),
      input({
        name: 'password_confirmation',
        label: 'Confirm new password',
        type: 'password',
        autocomplete: 'new-password',
        required: true,
        problems,
      }),
    ),
  );
  return withFormStatus(view, problems);
};

const differs: FormProblems = {
  text: null,
  fields: { password_confirmation: ["doesn't match the new password"] },
};

const password = () => text({ maxLength: 1000 });

export const passwordPages = [
  page({
    method: 'GET',
    path: '/profile/password',
    audience: 'user',
    withoutRequiredFactor: true,
    params: object({}),
    handle: async (visit) => await passwordView(visit),
  }),
  page({
    method: 'POST',
    path: '/profile/password',
    audience: 'user',
    withoutRequiredFactor: true,
    params: object({
      current_password: optional(password()),
      password: password(),
      password_confirmation: password(),
    }),
    handle: async (visit, { password_confirmation, current_password = '', ...given }) => {
      if (password_confirmation !== given.password) return await passwordView(visit, differs);
      const problems = await attempt(async () => {
        visit.changeSession(await changePassword(visit.call, { ...given, current_password }));
      });
      if (problems !== null) return await passwordView(visit, problems);
      return redirect('/profile/password', 'Your password was changed. All other browsers were signed out.');
    },
  }),
];
