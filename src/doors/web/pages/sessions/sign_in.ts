import { Failure } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { isMailOn } from '../../../../core/mail/enqueue_mails.ts';
import { toRelyingParty } from '../../../../identity/passkeys/relying_party.ts';
import { isUnconfirmed, signInWithPassword } from '../../../../identity/sessions/check_password.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { safeRedirectPath, withReturnPath } from '../../request/safe_redirect_path.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { askSecondFactor } from '../two_factor/challenge.ts';
import { passkeyPart } from './passkey_part.ts';
import { providerButtons } from '../identities/provider_buttons.ts';

type Filled = { login: string; return_to: string };

const passwordForm = (visit: Visit, { login, return_to }: Filled, problems: FormProblems): Html =>
  form(
    visit,
    { action: '/users/sign_in', submit: 'Sign in', problems },
    input({
      name: 'login',
      label: 'User name or e-mail',
      value: login,
      // `webauthn` lets the browser offer passkeys there.
      autocomplete: toRelyingParty(visit.call.baseUrl) === null ? 'username' : 'username webauthn',
      required: true,
      autofocus: login === '',
    }),
    input({
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
      autofocus: login !== '',
    }),
    return_to === '/' ? null : hidden('return_to', return_to),
  );

/** Where to get an account, or that nobody can. */
const signUpPart = ({ call: { settings } }: Visit, back: string): Html =>
  settings.signup_enabled && settings.password_authentication_enabled
    ? html`<p>No account yet? <a href="${withReturnPath('/users/sign_up', back)}">Sign up</a></p>`
    : html`<p class="muted">No account yet? Sign-up is closed on this service: ask an administrator for one.</p>`;

/** Links to pages that send a link by mail. */
const mailLinks = ({ call: { platform, settings } }: Visit): Html | false =>
  isMailOn(platform) &&
  settings.password_authentication_enabled &&
  html`<p><a href="/users/password/new">Forgot your password?</a></p>
${platform.config.confirm_addresses && html`<p><a href="/users/confirmation/new">Confirm your address</a></p>`}`;

const signInView = (visit: Visit, filled: Filled, problems = noProblems): View => {
  const { settings } = visit.call;
  const withPassword = settings.password_authentication_enabled;
  const body = html`<h1>Sign in</h1>
${settings.sign_in_text !== null && html`<p class="lines">${settings.sign_in_text}</p>`}
${
  withPassword
    ? html`${passwordForm(visit, filled, problems)}${passkeyPart(visit, filled.return_to)}`
    : html`<p>Signing in with a password is turned off on this service.</p>`
}
${mailLinks(visit)}${providerButtons(visit, filled.return_to)}${signUpPart(visit, filled.return_to)}`;
  return { title: 'Sign in', body };
};

const emptyForm = page({
  method: 'GET',
  path: '/users/sign_in',
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({ return_to: optional(text({ maxLength: 4096 })) }),
  handle: async (visit, { return_to }) => {
    const { call } = visit;
    const back = safeRedirectPath(return_to, call.baseUrl);
    return call.signedIn ? redirect(back) : signInView(visit, { login: '', return_to: back });
  },
});

const inMinutes = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'in a minute' : `in ${minutes} minutes`;
};

/** Returns the message of a refused sign-in; null for other failures. @param wrong text for wrong credentials */
const problemOf = (error: unknown, wrong: string): string | null => {
  if (!(error instanceof Failure)) return null;
  switch (error.kind) {
    case 'unauthorized':
      return wrong;
    case 'forbidden':
      if (isUnconfirmed(error))
        return 'Confirm your e-mail address first, by the link that was mailed to you.';
      return 'This account has been blocked. An administrator can tell you why.';
    case 'too_many_requests':
      return `Too many sign-ins failed. Try again ${inMinutes(Number(error.headers['retry-after']))}.`;
    default:
      return null;
  }
};

/** Renders the sign-in page after a refusal. @throws any other failure */
export const refusedView = (
  visit: Visit,
  filled: Filled,
  error: unknown,
  wrong = 'Invalid user name or password.',
): View => {
  const said = problemOf(error, wrong);
  if (said === null || !(error instanceof Failure)) throw error;
  const view = { ...signInView(visit, filled, { text: said, fields: {} }), headers: error.headers };
  return error.kind === 'too_many_requests' ? { ...view, status: error.status } : withRefusal(view);
};

const signIn = page({
  method: 'POST',
  path: '/users/sign_in',
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({
    login: text({ maxLength: 1000 }),
    password: text({ maxLength: 1000 }),
    return_to: optional(text({ maxLength: 4096 })),
  }),
  handle: async (visit, { login, password, return_to }) => {
    const { call } = visit;
    const { platform, ip, userAgent } = call;
    const back = safeRedirectPath(return_to, call.baseUrl);
    if (!call.settings.password_authentication_enabled) {
      return withRefusal(signInView(visit, { login: '', return_to: back }));
    }
    try {
      const { user, needsSecondFactor } = await signInWithPassword(platform, {
        login,
        password,
        ip,
        userAgent,
      });
      if (needsSecondFactor) return await askSecondFactor(visit, { user_id: user.id, provider: null }, back);
      const replaced = visit.sessionSecret;
      const newSession = { user_id: user.id, provider: null, source: call, replaced };
      visit.changeSession(await startSession(platform, newSession));
    } catch (error) {
      return refusedView(visit, { login, return_to: back }, error);
    }
    return redirect(back);
  },
});

export const signInPages = [emptyForm, signIn];
