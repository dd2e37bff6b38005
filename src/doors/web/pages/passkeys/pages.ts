/** The passkeys of the user's account, and sign-in with a passkey. */
import { requireUser } from '../../../../core/access/call.ts';
import { addPasskey, creationOptions, removePasskey } from '../../../../identity/passkeys/add_and_remove.ts';
import { type PasskeyRow, listPasskeys } from '../../../../identity/passkeys/queries.ts';
import { toRelyingParty } from '../../../../identity/passkeys/relying_party.ts';
import { signInWithPasskey } from '../../../../identity/passkeys/sign_in.ts';
import { hasPassword } from '../../../../identity/sessions/change_password.ts';
import { startSession } from '../../../../identity/sessions/start_session.ts';
import { invalid, unauthorized } from '../../../../platform/errors.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { answerParam, passkeyForm, readAnswer } from '../../parts/fields/passkey_form.ts';
import { moment, momentOr } from '../../parts/timestamp.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { currentPassword } from '../profile/current_password.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { refusedView } from '../sessions/sign_in.ts';
import { passkeyBrowserKey, signInPath } from '../sessions/passkey_part.ts';

const path = '/profile/passkeys';

const row = (visit: Visit, { id: passkeyId, name, created_at, last_used_at }: PasskeyRow): Html => html`<tr>
<th scope="row">${name}</th>
<td>${moment(created_at)}</td>
<td>${momentOr(last_used_at, 'Never')}</td>
<td>${form(visit, { action: `${path}/${passkeyId}/delete`, submit: 'Remove', name: `Remove ${name}`, danger: true })}</td>
</tr>
`;

const table = (
  visit: Visit,
  passkeys: readonly PasskeyRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Passkeys"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${passkeys.map((one) => row(visit, one))}</tbody>
</table></div>`;

const newForm = async (visit: Visit, name: string, problems: FormProblems): Promise<Html> => {
  const { call } = visit;
  if (toRelyingParty(call.baseUrl) === null)
    return html`<p>Browsers offer passkeys only where the service is reached by a name and HTTPS.</p>`;
  if (!(await hasPassword(call.db, requireUser(call).id)))
    return html`<p>Your account has no password yet. <a href="/profile/password">Set password</a> first.</p>`;
  const options = await creationOptions(call, passkeyBrowserKey(visit));
  return html`<noscript><p>Adding a passkey needs JavaScript.</p></noscript>${passkeyForm(
    visit,
    { action: path, submit: 'Add passkey', kind: 'create', options, problems },
    input({
      name: 'name',
      label: 'Name',
      hint: 'The device or password manager that keeps it.',
      value: name,
      required: true,
      problems,
    }),
    currentPassword(problems),
  )}`;
};

/** Problem text of the response, which has no form field. */
const asShown = ({ text: general, fields: { passkey, ...fields } }: FormProblems): FormProblems => ({
  text: passkey === undefined ? general : `The passkey ${passkey.join('. ')}.`,
  fields,
});

const listView = async (visit: Visit, name = '', problems = noProblems): Promise<View> => {
  const passkeys = await listPasskeys(visit.call.db, requireUser(visit.call).id);
  const content = html`<p>With a passkey you sign in by your fingerprint, your face or the PIN of a device, without a password or a code.</p>
${passkeys.length === 0 ? html`<p>You have no passkey yet.</p>` : table(visit, passkeys)}
<h2>Add a passkey</h2>
${await newForm(visit, name, problems === noProblems ? problems : asShown(problems))}`;
  return withFormStatus(accountView(path, 'Passkeys', content), problems);
};

const unreadable = { passkey: ['was not sent: the form needs a browser that supports passkeys'] };

const add = formPage({
  path,
  audience: 'user',
  address: {},
  fields: { name: text({ maxLength: 255 }), current_password: text({ maxLength: 1000 }), ...answerParam },
  find: async () => null,
  fromSent: ({ name }) => fieldText(name),
  run: async (visit, _found, { name, current_password, ...sent }) => {
    const response = readAnswer(sent);
    if (response === null) throw invalid(unreadable);
    await addPasskey(visit.call, { name, current_password, response, browserKey: passkeyBrowserKey(visit) });
    return redirect(path, 'The passkey was added.');
  },
  view: async (visit, _found, { values: name, problems }) => await listView(visit, name, problems),
});

const remove = page({
  method: 'POST',
  path: `${path}/:id/delete`,
  audience: 'user',
  params: object({ id: id() }),
  handle: async (visit, params) => {
    const name = await removePasskey(visit.call, params.id);
    return redirect(path, `The passkey ${name} was removed.`);
  },
});

const signIn = page({
  method: 'POST',
  path: signInPath,
  audience: 'anyone',
  withoutRequiredFactor: true,
  params: object({ ...answerParam, return_to: optional(text({ maxLength: 4096 })) }),
  handle: async (visit, { return_to, ...sent }) => {
    const { call } = visit;
    const back = safeRedirectPath(return_to, call.baseUrl);
    const response = readAnswer(sent);
    try {
      if (response === null) throw unauthorized();
      const answer = { response, browserKey: passkeyBrowserKey(visit) };
      const user_id = await signInWithPasskey(call.platform, call, call.baseUrl, answer);
      const newSession = { user_id, provider: null, source: call, replaced: visit.sessionSecret };
      visit.changeSession(await startSession(call.platform, newSession));
    } catch (error) {
      return refusedView(visit, { login: '', return_to: back }, error, 'This passkey is not known here.');
    }
    return redirect(back);
  },
});

export const pages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({}),
    handle: async (visit) => await listView(visit),
  }),
  add,
  remove,
  signIn,
];
