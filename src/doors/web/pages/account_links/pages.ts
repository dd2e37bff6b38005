/** Pages for links by mail: a forgotten password, and the confirmation of an address. */
import { isMailOn } from '../../../../core/mail/enqueue_mails.ts';
import { requestLink } from '../../../../identity/account_mails/request_link.ts';
import {
  confirmAddress,
  isUsableLink,
  resetPasswordByLink,
} from '../../../../identity/account_mails/use_link.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import type { AccountPurpose } from '../../../../identity/account_mails/links.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { headedView } from '../../parts/frame/headed_view.ts';

const shared = { audience: 'anyone', withoutRequiredFactor: true } as const;
const token = () => optional(text({ maxLength: 200 }));

type Request = { title: string; intro: string; action: string; submit: string };

const requests: Record<AccountPurpose, Request> = {
  password_reset: {
    title: 'Forgot your password?',
    intro: 'Enter the address of your account. You get a mail with a link to choose another password.',
    action: '/users/password',
    submit: 'Send the link',
  },
  confirm_address: {
    title: 'Confirm your address',
    intro: 'Enter the address of your account. You get a mail with a link to confirm it.',
    action: '/users/confirmation',
    submit: 'Send the link',
  },
};

/** Returns why no links are sent; null if they are. */
const whyOff = ({ call }: Visit): string | null => {
  if (!isMailOn(call.platform)) return 'This service sends no mail. Ask an administrator for help.';
  return call.settings.password_authentication_enabled
    ? null
    : 'Signing in with a password is turned off on this service.';
};

const requestView = (visit: Visit, purpose: AccountPurpose): View => {
  const { title, intro, action, submit } = requests[purpose];
  const off = whyOff(visit);
  if (off !== null) return headedView(title, html`<p>${off}</p>`);
  const address = input({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    autocomplete: 'email',
    required: true,
    autofocus: true,
  });
  return headedView(
    title,
    html`<p>${intro}</p>
${form(visit, { action, submit }, address)}
<p><a href="/users/sign_in">Sign in</a></p>`,
  );
};

/** The same answer whether an account has the address or not. */
const requestPages = (purpose: AccountPurpose) => [
  page({
    ...shared,
    method: 'GET',
    path: `${requests[purpose].action}/new`,
    params: object({}),
    handle: async (visit) => requestView(visit, purpose),
  }),
  page({
    ...shared,
    method: 'POST',
    path: requests[purpose].action,
    params: object({ email: text({ maxLength: 1000 }) }),
    handle: async (visit, { email }) => {
      if (whyOff(visit) !== null) return withRefusal(requestView(visit, purpose));
      await requestLink(visit.call.platform, purpose, { email, ip: visit.call.ip });
      return redirect('/users/sign_in', 'If an account has this address, it gets a mail with a link.');
    },
  }),
];

const expiredView = (purpose: AccountPurpose): View =>
  withRefusal(
    headedView(
      'Expired link',
      html`<p>This link has expired or was used already.</p>
<p><a href="${requests[purpose].action}/new">Request another one</a></p>`,
    ),
  );

const passwordView = (visit: Visit, link: string, problems: FormProblems = noProblems): View =>
  withFormStatus(
    headedView(
      'Choose a new password',
      form(
        visit,
        { action: '/users/password/edit', submit: 'Save the password', problems },
        hidden('token', link),
        input({
          name: 'password',
          label: 'New password',
          type: 'password',
          hint: '8 to 128 characters; common passwords are refused.',
          autocomplete: 'new-password',
          required: true,
          autofocus: true,
          problems,
        }),
      ),
    ),
    problems,
  );

export const pages = [
  ...requestPages('password_reset'),
  ...requestPages('confirm_address'),
  page({
    ...shared,
    method: 'GET',
    path: '/users/password/edit',
    params: object({ token: token() }),
    handle: async (visit, { token: link = '' }) =>
      (await isUsableLink(visit.call.platform, 'password_reset', link))
        ? passwordView(visit, link)
        : expiredView('password_reset'),
  }),
  formPage({
    ...shared,
    path: '/users/password/edit',
    address: { token: token() },
    fields: { password: text({ maxLength: 1000 }) },
    find: async (_visit, { token: link = '' }) => link,
    fromSent: () => null,
    run: async ({ call }, link, { password }) => {
      await resetPasswordByLink(call.platform, { token: link, password }, call);
      return redirect('/users/sign_in', 'Your password was changed. Sign in with it.');
    },
    view: (visit, link, { problems }) =>
      'token' in problems.fields ? expiredView('password_reset') : passwordView(visit, link, problems),
  }),
  page({
    ...shared,
    method: 'GET',
    path: '/users/confirmation',
    params: object({ token: token() }),
    handle: async (visit, { token: link = '' }) =>
      (await isUsableLink(visit.call.platform, 'confirm_address', link))
        ? headedView(
            'Confirm your address',
            form(visit, { action: '/users/confirmation/confirm', submit: 'Confirm' }, hidden('token', link)),
          )
        : expiredView('confirm_address'),
  }),
  formPage({
    ...shared,
    path: '/users/confirmation/confirm',
    address: { token: token() },
    fields: {},
    find: async (_visit, { token: link = '' }) => link,
    fromSent: () => null,
    run: async ({ call }, link) => {
      await confirmAddress(call.platform, link);
      return redirect(call.signedIn ? '/profile' : '/users/sign_in', 'Your address was confirmed.');
    },
    view: () => expiredView('confirm_address'),
  }),
];
