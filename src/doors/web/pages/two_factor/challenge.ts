/** The second step of a sign-in. */
import { Failure } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import { answerChallenge, createChallenge } from '../../../../identity/two_factor/challenge.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { html } from '../../parts/html.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';

type PageQuery = { challenge: string; return_to: string };

const action = '/users/sign_in/second_factor';

const challengeView = (visit: Visit, { challenge, return_to }: PageQuery, problems = noProblems): View => ({
  title: 'Sign in: second factor',
  body: html`<h1>Second factor</h1>
<p>Enter the code from your authenticator, or one of your recovery codes.</p>
${form(
  visit,
  { action, submit: 'Sign in', problems },
  hidden('challenge', challenge),
  return_to === '/' ? null : hidden('return_to', return_to),
  input({
    name: 'code',
    label: 'Code',
    autocomplete: 'one-time-code',
    required: true,
    autofocus: true,
    problems,
  }),
)}
<p><a href="/users/sign_in">Sign in as another user</a></p>`,
});

const browserKey = (visit: Visit): string => visit.browserKey('second factor');

/** Continues the sign-in of a user with a second factor after the right password. */
export const askSecondFactor = async (
  visit: Visit,
  user: { user_id: number; provider: string | null },
  return_to: string,
): Promise<View> =>
  challengeView(visit, {
    challenge: await createChallenge(visit.call.platform, browserKey(visit), user),
    return_to,
  });

const problemOf = ({ kind, headers }: Failure): FormProblems | null => {
  if (kind === 'unauthorized') return { text: null, fields: { code: ['is wrong, or was used before'] } };
  if (kind !== 'too_many_requests') return null;
  const text = `Too many codes were wrong. Try again in ${headers['retry-after']} seconds.`;
  return { text, fields: {} };
};

const answerPage = page({
  method: 'POST',
  path: action,
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({
    challenge: text(),
    code: text(),
    return_to: optional(text({ maxLength: 4096 })),
  }),
  handle: async (visit, { challenge, code, return_to }) => {
    const { call } = visit;
    const back = safeRedirectPath(return_to, call.baseUrl);
    try {
      const answered = { browserKey: browserKey(visit), challenge, code };
      const user = await answerChallenge(call.platform, call, answered);
      if (user === null) return redirect('/users/sign_in', 'The sign-in expired. Sign in again.');
      const replaced = visit.sessionSecret;
      visit.changeSession(await startSession(call.platform, { ...user, source: call, replaced }));
      return redirect(back);
    } catch (error) {
      const problems = error instanceof Failure ? problemOf(error) : null;
      if (problems === null || !(error instanceof Failure)) throw error;
      const { headers, kind, status } = error;
      const shown = { ...challengeView(visit, { challenge, return_to: back }, problems), headers };
      return kind === 'unauthorized' ? withRefusal(shown) : { ...shown, status };
    }
  },
});

export const challengePages = [answerPage];
