import { object, text } from '../../../../platform/http/schema.ts';
import { getOrigin } from '../../../../identity/sessions/failure_counts.ts';
import { countAttempt } from '../../../../identity/sessions/sign_in_failures.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import { signUp } from '../../../../identity/users/sign_up.ts';
import { attempt, form, input, noProblems } from '../../parts/form.ts';
import { html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';

type Filled = { name: string; username: string; email: string };

const closedView = (why: string): View => ({
  title: 'Sign up',
  body: html`<h1>Sign up</h1>
<p>${why} An administrator can make an account for you.</p>
<p><a href="/users/sign_in">Sign in</a></p>`,
});

/** Returns why sign-up is closed; null: it is open. */
const whyClosed = ({ call: { settings } }: Visit): string | null => {
  if (!settings.signup_enabled) return 'Sign-up is closed on this service.';
  return settings.password_authentication_enabled
    ? null
    : 'Sign-up with a password is not available on this service.';
};

const signUpView = (visit: Visit, filled: Filled, problems = noProblems): View => ({
  title: 'Sign up',
  status: problems === noProblems ? 200 : 422,
  body: html`<h1>Sign up</h1>
${form(
  visit,
  { action: '/users/sign_up', submit: 'Sign up', problems },
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
<p>Already have an account? <a href="/users/sign_in">Sign in</a></p>`,
});

const long = () => text({ maxLength: 2000 });

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
    params: object({}),
    handle: async (visit) => {
      if (visit.call.signedIn) return redirect('/');
      const closed = whyClosed(visit);
      return closed === null ? signUpView(visit, { name: '', username: '', email: '' }) : closedView(closed);
    },
  }),
  page({
    method: 'POST',
    path: '/users/sign_up',
    audience: 'anyone',
    params: object({ name: long(), username: long(), email: long(), password: long() }),
    handle: async (visit, given) => {
      const { call } = visit;
      const closed = whyClosed(visit);
      if (closed !== null) return { ...closedView(closed), status: 403 };
      await requireFewSignUps(call);
      const problems = await attempt(async () => {
        const user_id = await signUp(call.platform, given);
        // The address is confirmed first, by a link.
        if (call.platform.config.confirm_addresses) return;
        const session = { user_id, provider: null, source: call, replaced: visit.sessionSecret };
        visit.changeSession(await startSession(call.platform, session));
      });
      if (problems !== null) return signUpView(visit, given, problems);
      return call.platform.config.confirm_addresses
        ? redirect('/users/sign_in', 'Confirm your address: a mail with a link is on its way.')
        : redirect('/', 'Welcome to Gantry.');
    },
  }),
];
