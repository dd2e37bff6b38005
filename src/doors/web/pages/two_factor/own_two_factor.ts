/** The second factor of the user's account: enabled with a code, disabled with the password. */
import { object, text } from '../../../../platform/http/schema.ts';
import { requireUser } from '../../../../core/access/call.ts';
import { hasPassword } from '../../../../identity/sessions/change_password.ts';
import { needsSecondFactor } from '../../../../identity/sessions/second_factor.ts';
import {
  beginEnrolment,
  disableFactor,
  finishEnrolment,
  replaceCodes,
  loadPendingKey,
} from '../../../../identity/two_factor/enroll.ts';
import { countCodes } from '../../../../identity/two_factor/recovery_codes.ts';
import { keyUri, loadTotp } from '../../../../identity/two_factor/totp.ts';
import { type FormState, formPage } from '../../parts/fields/form_page.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { currentPassword } from '../profile/current_password.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { qrCode } from './qr_code.ts';

const path = '/profile/two_factor';
const title = 'Two-factor sign-in';

/** The submitted form and its problems; the other forms of the page show none. */
type Sent = { action: string; problems: FormProblems };

const problemsFor = (sent: Sent | null, action: string): FormProblems =>
  sent?.action === action ? sent.problems : noProblems;

type Step = { id: string; action: string; submit: string; danger?: boolean };

const withPassword = (visit: Visit, sent: Sent | null, { id, ...step }: Step): Html => {
  const problems = problemsFor(sent, step.action);
  return form(visit, { ...step, problems }, currentPassword(problems, `${id}_password`));
};

const steps = {
  begin: { id: 'begin', action: `${path}/begin`, submit: 'Set up' },
  renew: { id: 'renew', action: `${path}/recovery_codes`, submit: 'Create new recovery codes' },
  disable: { id: 'disable', action: `${path}/disable`, submit: 'Turn off', danger: true },
} satisfies Record<string, Step>;

const offView = async (visit: Visit, sent: Sent | null): Promise<Html> => html`
<p>With two-factor sign-in, a password is not enough to sign in: a code from an authenticator app is also needed.</p>
${
  (await hasPassword(visit.call.db, requireUser(visit.call).id))
    ? withPassword(visit, sent, steps.begin)
    : html`<p>Your account has no password yet. <a href="/profile/password">Set password</a> first.</p>`
}`;

const enrolView = async (visit: Visit, key: string, sent: Sent | null): Promise<Html> => {
  const { call } = visit;
  const uri = keyUri(await loadTotp(), key, new URL(call.baseUrl).host, requireUser(call).username);
  const problems = problemsFor(sent, path);
  return html`
<p>Scan this with your authenticator app, or type in the key, then enter the code it shows. You will be signed out in all other browsers.</p>
<div class="field">${await qrCode(uri)}</div>
<p>Key: <code class="secret">${key.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
${form(
  visit,
  { action: path, submit: 'Turn on', problems },
  input({ name: 'code', label: 'Code', autocomplete: 'one-time-code', required: true, problems }),
)}`;
};

const onView = async (visit: Visit, sent: Sent | null): Promise<Html> => {
  const left = await countCodes(visit.call.db, requireUser(visit.call).id);
  return html`
<p>It is on. ${left} recovery ${left === 1 ? 'code is' : 'codes are'} left.</p>
<h2>New recovery codes</h2>
<p>The old codes become invalid.</p>
${withPassword(visit, sent, steps.renew)}
<h2>Turn off</h2>
${withPassword(visit, sent, steps.disable)}`;
};

const contentOf = async (visit: Visit, sent: Sent | null): Promise<Html> => {
  if (await needsSecondFactor(visit.call.db, requireUser(visit.call).id)) return await onView(visit, sent);
  const key = await loadPendingKey(visit.call);
  return key === null ? await offView(visit, sent) : await enrolView(visit, key, sent);
};

const view = async (visit: Visit, sent: Sent | null = null): Promise<View> => {
  return withRefusal(accountView(path, title, await contentOf(visit, sent)), sent !== null);
};

const codesView = (codes: readonly string[]): View =>
  accountView(
    path,
    'Recovery codes',
    html`<p>If you lose your authenticator, each code works once. They are not shown again: store them in a safe place.</p>
<ul>${codes.map((code) => html`<li><code class="secret">${code}</code></li>`)}</ul>
<p><a href="${path}">I have saved them</a></p>`,
  );

const show = page({
  method: 'GET',
  path,
  audience: 'user',
  withoutRequiredFactor: true,
  params: object({}),
  handle: async (visit) => await view(visit),
});

/** What all forms of the page share. None shows what was typed again: a password, or a code that works once. */
const twoFactorForm = (action: string) => ({
  path: action,
  audience: 'user' as const,
  withoutRequiredFactor: true as const,
  address: {},
  find: async () => null,
  fromSent: () => null,
  view: async (visit: Visit, _found: null, { problems }: FormState<null>) =>
    await view(visit, { action, problems }),
});

const passwordField = { current_password: text({ maxLength: 1000 }) };

const begin = formPage({
  ...twoFactorForm(steps.begin.action),
  fields: passwordField,
  run: async ({ call }, _found, { current_password }) => {
    await beginEnrolment(call, current_password);
    return redirect(path);
  },
});

const finish = formPage({
  ...twoFactorForm(path),
  fields: { code: text({ maxLength: 100 }) },
  run: async (visit, _found, { code }) => {
    const codes = await finishEnrolment(visit.call, code);
    visit.factorDueAt = null;
    return codesView(codes);
  },
});

const renew = formPage({
  ...twoFactorForm(steps.renew.action),
  fields: passwordField,
  run: async ({ call }, _found, { current_password }) =>
    codesView(await replaceCodes(call, current_password)),
});

const disable = formPage({
  ...twoFactorForm(steps.disable.action),
  fields: passwordField,
  run: async ({ call }, _found, { current_password }) => {
    await disableFactor(call, current_password);
    return redirect(path, 'Two-factor sign-in was turned off.');
  },
});

export const twoFactorPages = [show, begin, finish, renew, disable];
