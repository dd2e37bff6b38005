/** The second factor of one's own account: turned on with a code, off with the password. */
import { object, text } from '../../../http/schema.ts';
import { userOf } from '../../../access/call.ts';
import { needsSecondFactor } from '../../../sessions/second_factor.ts';
import {
  beginEnrolment,
  disableFactor,
  finishEnrolment,
  replaceCodes,
  waitingKey,
} from '../../../two_factor/enroll.ts';
import { codesLeft } from '../../../two_factor/recovery.ts';
import { keyUri, loadTotp } from '../../../two_factor/totp.ts';
import { type FormProblems, attempt, form, input, noProblems } from '../../form.ts';
import { type Html, html } from '../../html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { currentPassword } from '../profile/current_password.ts';
import { ownView } from '../profile/own_nav.ts';
import { qrCode } from './qr.ts';

const path = '/profile/two_factor';
const title = 'Two-factor sign-in';

/** The form that was sent, and what was wrong with it; the other forms of the page show nothing. */
type Sent = { action: string; problems: FormProblems };

const problemsFor = (sent: Sent | null, action: string): FormProblems =>
  sent?.action === action ? sent.problems : noProblems;

type Step = { id: string; action: string; submit: string; danger?: boolean };

const withPassword = (visit: Visit, sent: Sent | null, { id, ...step }: Step): Html => {
  const problems = problemsFor(sent, step.action);
  return form(visit, { ...step, problems }, currentPassword(problems, `${id}_password`));
};

const steps = {
  begin: { id: 'begin', action: `${path}/begin`, submit: 'Set it up' },
  renew: { id: 'renew', action: `${path}/recovery_codes`, submit: 'Make new recovery codes' },
  disable: { id: 'disable', action: `${path}/disable`, submit: 'Turn it off', danger: true },
} satisfies Record<string, Step>;

const offView = (visit: Visit, sent: Sent | null): Html => html`
<p>With a second factor, a password alone does not open your account: whoever signs in also needs a code from an
authenticator on your telephone.</p>
${withPassword(visit, sent, steps.begin)}`;

const enrolView = async (visit: Visit, key: string, sent: Sent | null): Promise<Html> => {
  const { call } = visit;
  const uri = keyUri(await loadTotp(), key, new URL(call.baseUrl).host, userOf(call).username);
  const problems = problemsFor(sent, path);
  return html`
<p>Read this with your authenticator, or type the key into it; then give the code that it shows.
In all other browsers you are then signed out.</p>
<div class="field">${await qrCode(uri)}</div>
<p>Key: <code class="secret">${key.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
${form(
  visit,
  { action: path, submit: 'Turn it on', problems },
  input({ name: 'code', label: 'Code', autocomplete: 'one-time-code', required: true, problems }),
)}`;
};

const onView = async (visit: Visit, sent: Sent | null): Promise<Html> => {
  const left = await codesLeft(visit.call.db, userOf(visit.call).id);
  return html`
<p>It is on. ${left} recovery ${left === 1 ? 'code is' : 'codes are'} left.</p>
<h2>New recovery codes</h2>
<p>The old ones are worth nothing from then on.</p>
${withPassword(visit, sent, steps.renew)}
<h2>Turn it off</h2>
${withPassword(visit, sent, steps.disable)}`;
};

const contentOf = async (visit: Visit, sent: Sent | null): Promise<Html> => {
  if (await needsSecondFactor(visit.call.db, userOf(visit.call).id)) return await onView(visit, sent);
  const key = await waitingKey(visit.call);
  return key === null ? offView(visit, sent) : await enrolView(visit, key, sent);
};

const view = async (visit: Visit, sent: Sent | null = null): Promise<View> => {
  const shown = ownView(path, title, await contentOf(visit, sent));
  return sent === null ? shown : { ...shown, status: 422 };
};

const codesView = (codes: readonly string[]): View =>
  ownView(
    path,
    'Recovery codes',
    html`<p>Each lets you in once, should you lose the authenticator. They are not shown again: keep them where others
do not look.</p>
<ul>${codes.map((code) => html`<li><code class="secret">${code}</code></li>`)}</ul>
<p><a href="${path}">I have kept them</a></p>`,
  );

const show = page({
  method: 'GET',
  path,
  audience: 'user',
  params: object({}),
  handle: async (visit) => await view(visit),
});

const passwordParams = object({ current_password: text({ maxLength: 1000 }) });

const begin = page({
  method: 'POST',
  path: steps.begin.action,
  audience: 'user',
  params: passwordParams,
  handle: async (visit, { current_password }) => {
    const problems = await attempt(async () => await beginEnrolment(visit.call, current_password));
    return problems === null ? redirect(path) : await view(visit, { action: steps.begin.action, problems });
  },
});

const finish = page({
  method: 'POST',
  path,
  audience: 'user',
  params: object({ code: text({ maxLength: 100 }) }),
  handle: async (visit, { code }) => {
    let codes: string[] = [];
    const problems = await attempt(async () => void (codes = await finishEnrolment(visit.call, code)));
    return problems === null ? codesView(codes) : await view(visit, { action: path, problems });
  },
});

const renew = page({
  method: 'POST',
  path: steps.renew.action,
  audience: 'user',
  params: passwordParams,
  handle: async (visit, { current_password }) => {
    let codes: string[] = [];
    const problems = await attempt(
      async () => void (codes = await replaceCodes(visit.call, current_password)),
    );
    return problems === null ? codesView(codes) : await view(visit, { action: steps.renew.action, problems });
  },
});

const disable = page({
  method: 'POST',
  path: steps.disable.action,
  audience: 'user',
  params: passwordParams,
  handle: async (visit, { current_password }) => {
    const problems = await attempt(async () => await disableFactor(visit.call, current_password));
    if (problems !== null) return await view(visit, { action: steps.disable.action, problems });
    return redirect(path, 'Two-factor sign-in is off.');
  },
});

export const twoFactorPages = [show, begin, finish, renew, disable];
