import { object, optional, text } from '../../../../platform/http/schema.ts';
import { readInvitationToken } from '../../../../identity/invitations/links.ts';
import { getOrigin } from '../../../../platform/addresses/client_origin.ts';
import { countAttempt } from '../../../../identity/sessions/sign_in_failures.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import { normalizedEmail } from '../../../../identity/users/rules.ts';
import { signUp } from '../../../../identity/users/sign_up.ts';
import { fieldText, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { safeRedirectPath, withReturnPath } from '../../request/safe_redirect_path.ts';

type Filled = {
  name: string;
  username: string;
  email: string;
  /** Token of an invitation by mail. */
  invitation?: string | undefined;
  /** Path of the page that the visitor came from. */
  return_to?: string | undefined;
};

/** Returns the address to which an invitation was sent; null if there is none, or it is no longer valid. */
const findInvitedEmail = async (
  { call: { platform } }: Visit,
  token: string | undefined,
): Promise<string | null> => {
  if (token === undefined) return null;
  const at = { db: platform.store.db, now: platform.clock.now() };
  return (await readInvitationToken(platform, at, token))?.email ?? null;
};

const closedView = (why: string): View => ({
  title: 'Sign up',
  body: html`<h1>Sign up</h1>
<p>${why} An administrator can make an account for you.</p>
<p><a href="/users/sign_in">Sign in</a></p>`,
});

/** Returns why sign-up is closed; null if it is open. */
const whyClosed = ({ call: { settings } }: Visit): string | null => {
  if (!settings.signup_enabled) return 'Sign-up is closed on this service.';
  return settings.password_authentication_enabled
    ? null
    : 'Sign-up with a password is not available on this service.';
};

const backOf = ({ call }: Visit, { return_to }: Pick<Filled, 'return_to'>): string =>
  safeRedirectPath(return_to, call.baseUrl);

const signUpView = (visit: Visit, { values: filled, problems }: FormState<Filled>): View => ({
  title: 'Sign up',
  body: html`<h1>Sign up</h1>
${form(
  visit,
  { action: '/users/sign_up', submit: 'Sign up', problems },
  filled.invitation === undefined ? null : hidden('invitation', filled.invitation),
  backOf(visit, filled) === '/' ? null : hidden('return_to', backOf(visit, filled)),
  input({ name: 'name', label: 'Name', value: filled.name, autocomplete: 'name', required: true, problems }),
  input({
    name: 'username',
    label: 'User name',
    value: filled.username,
    hint: 'Part of your addresses: letters, digits, and . _ -',
    autocomplete: 'username',
    required: true,
    problems,
  }),
  input({
    name: 'email',
    label: 'E-mail',
    type: 'email',
    value: filled.email,
    autocomplete: 'email',
    required: true,
    problems,
  }),
  input({
    name: 'password',
    label: 'Password',
    type: 'password',
    hint: '8 to 128 characters; common passwords are refused.',
    autocomplete: 'new-password',
    required: true,
    problems,
  }),
)}
<p>Already have an account? <a href="${withReturnPath('/users/sign_in', backOf(visit, filled))}">Sign in</a></p>`,
});

const long = () => text({ maxLength: 2000 });
const invitation = optional(text({ maxLength: 200 }));
const return_to = optional(text({ maxLength: 4096 }));

/** Sign-ups of one address in a minute. */
const maxSignUps = 20;

/**
 * Limits sign-ups of one address, in all processes of the service together: each costs a password hash, and an
 * account.
 * @throws Failure 429
 */
const requireFewSignUps = async ({ write, ip }: Visit['call']): Promise<void> =>
  await write(async (tx) => await countAttempt(tx, [`sign-up ${getOrigin(ip)}`], { max: maxSignUps }));

export const pages = [
  page({
    method: 'GET',
    path: '/users/sign_up',
    audience: 'anyone',
    params: object({ invitation, return_to }),
    handle: async (visit, { invitation: token, return_to: back }) => {
      if (visit.call.signedIn) return redirect(backOf(visit, { return_to: back }));
      const closed = whyClosed(visit);
      if (closed !== null) return closedView(closed);
      const email = await findInvitedEmail(visit, token);
      const invited = email === null ? {} : { invitation: token };
      const blank = { name: '', username: '', email: email ?? '', return_to: back };
      return signUpView(visit, unsent({ ...blank, ...invited }));
    },
  }),
  formPage({
    path: '/users/sign_up',
    audience: 'anyone',
    address: {},
    fields: { name: long(), username: long(), email: long(), password: long(), invitation, return_to },
    find: async (visit) => whyClosed(visit),
    fromSent: (sent): Filled => ({
      ...readTexts(sent, ['name', 'username', 'email']),
      ...(sent['invitation'] !== undefined && { invitation: fieldText(sent['invitation']) }),
      ...(sent['return_to'] !== undefined && { return_to: fieldText(sent['return_to']) }),
    }),
    run: async (visit, closed, params) => {
      const { call } = visit;
      if (closed !== null) return { ...closedView(closed), status: 403 };
      await requireFewSignUps(call);
      const proven = await findInvitedEmail(visit, params.invitation);
      const user_id = await signUp(call.platform, params, proven);
      const back = backOf(visit, params);
      if (call.platform.config.confirm_addresses && normalizedEmail(params.email) !== proven) {
        const text = 'Confirm your address: a mail with a link is on its way.';
        return redirect(withReturnPath('/users/sign_in', back), text);
      }
      const session = { user_id, provider: null, source: call, replaced: visit.sessionSecret };
      visit.changeSession(await startSession(call.platform, session));
      return redirect(back, 'Welcome to Gantry.');
    },
    view: (visit, closed, state) =>
      closed === null ? signUpView(visit, state) : { ...closedView(closed), status: 403 },
  }),
];
