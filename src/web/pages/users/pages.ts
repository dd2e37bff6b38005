import { tooOften } from '../../../errors.ts';
import { type Pace, makePace } from '../../../http/pace.ts';
import { object, text } from '../../../http/schema.ts';
import { originOf } from '../../../sessions/attempts.ts';
import { startSession } from '../../../sessions/start.ts';
import { signUp } from '../../../users/sign_up.ts';
import { attempt, form, input, noProblems } from '../../form.ts';
import { html } from '../../html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { oncePer } from '../../../once_per.ts';

type Filled = { name: string; username: string; email: string };

const closedView = (why: string): View => ({
  title: 'Sign up',
  body: html`<h1>Sign up</h1>
<p>${why} An administrator can make an account for you.</p>
<p><a href="/users/sign_in">Sign in</a></p>`,
});

/** Why nobody can make an account for himself; null: he can. */
const whyClosed = ({ call: { settings } }: Visit): string | null => {
  if (!settings.signup_enabled) return 'Sign-up is closed on this service.';
  return settings.password_authentication_enabled
    ? null
    : 'Accounts of this service have no passwords, so there is no sign-up with one.';
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
    hint: 'Part of the address of what is yours: letters, digits, and . _ -',
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
    hint: '8 to 128 characters, and none of the common ones.',
    autocomplete: 'new-password',
    required: true,
    problems,
  }),
)}
<p>You have an account? <a href="/users/sign_in">Sign in</a></p>`,
});

const long = () => text({ maxLength: 2000 });

const paceOf = oncePer((_platform): Pace => makePace({ most: 20, within: 60_000 }));

/** From one address: each costs a password's hash, and an account. @throws Failure 429 */
const requireFewSignUps = ({ platform, ip }: Visit['call']): void => {
  if (paceOf(platform).count(originOf(ip), platform.clock.now())) throw tooOften(60);
};

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
      requireFewSignUps(call);
      const problems = await attempt(async () => {
        const user_id = await signUp(call.platform, given);
        const session = { user_id, provider: null, source: call, replaced: visit.sessionSecret };
        visit.changeSession(await startSession(call.platform, session));
      });
      return problems === null ? redirect('/', 'Welcome to Gantry.') : signUpView(visit, given, problems);
    },
  }),
];
