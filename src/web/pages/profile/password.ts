import { object, text } from '../../../http/schema.ts';
import { changePassword } from '../../../sessions/change_password.ts';
import { type FormProblems, attempt, form, input, noProblems } from '../../form.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { currentPassword } from './current_password.ts';
import { ownView } from './own_nav.ts';

const passwordView = (visit: Visit, problems = noProblems): View => {
  const view = ownView(
    '/profile/password',
    'Password',
    form(
      visit,
      { action: '/profile/password', submit: 'Change the password', problems },
      currentPassword(problems),
      input({
        name: 'password',
        label: 'New password',
        type: 'password',
        hint: '8 to 128 characters. In all other browsers you are signed out.',
        autocomplete: 'new-password',
        required: true,
        problems,
      }),
      input({
        name: 'password_confirmation',
        label: 'New password again',
        type: 'password',
        autocomplete: 'new-password',
        required: true,
        problems,
      }),
    ),
  );
  return problems === noProblems ? view : { ...view, status: 422 };
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
    params: object({}),
    handle: async (visit) => passwordView(visit),
  }),
  page({
    method: 'POST',
    path: '/profile/password',
    audience: 'user',
    params: object({
      current_password: password(),
      password: password(),
      password_confirmation: password(),
    }),
    handle: async (visit, { password_confirmation, ...given }) => {
      if (password_confirmation !== given.password) return passwordView(visit, differs);
      const problems = await attempt(async () => {
        visit.changeSession(await changePassword(visit.call, given));
      });
      if (problems !== null) return passwordView(visit, problems);
      return redirect('/profile/password', 'Your password is changed. All other browsers are signed out.');
    },
  }),
];
