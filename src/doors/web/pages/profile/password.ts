import { requireUser } from '../../../../core/access/call.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { changePassword, hasPassword } from '../../../../identity/sessions/change_password.ts';
import { invalid } from '../../../../platform/errors.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, input } from '../../parts/form.ts';
import { noProblems, withFormStatus } from '../../parts/form_problems.ts';
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
  formPage({
    path: '/profile/password',
    audience: 'user',
    withoutRequiredFactor: true,
    address: {},
    fields: {
      current_password: optional(password()),
      password: password(),
      password_confirmation: password(),
    },
    find: async () => null,
    fromSent: () => null,
    run: async (visit, _found, { password_confirmation, current_password = '', ...params }) => {
      if (password_confirmation !== params.password)
        throw invalid({ password_confirmation: ["doesn't match the new password"] });
      visit.changeSession(await changePassword(visit.call, { ...params, current_password }));
      return redirect('/profile/password', 'Your password was changed. All other browsers were signed out.');
    },
    view: async (visit, _found, { problems }) => await passwordView(visit, problems),
  }),
];
