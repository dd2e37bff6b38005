/** The user's further addresses, and the page that confirms one. */
import { requireUser } from '../../../../core/access/call.ts';
import { isMailOn } from '../../../../core/mail/enqueue_mails.ts';
import { createEmail, removeEmail, resendConfirmation } from '../../../../identity/emails/change.ts';
import { confirmPassword } from '../../../../identity/sessions/confirm_password.ts';
import { hasPassword } from '../../../../identity/sessions/change_password.ts';
import { confirmEmail, readEmailToken } from '../../../../identity/emails/confirm.ts';
import { type EmailRow, listEmails } from '../../../../identity/emails/queries.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, optional, text } from '../../../../platform/http/schema.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { currentPassword } from '../profile/current_password.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { headedView } from '../../parts/frame/headed_view.ts';

const path = '/profile/emails';
const confirmationPath = '/users/emails/confirmation';

const stateOf = ({ confirmed_at }: EmailRow): Html =>
  confirmed_at === null
    ? html`<span class="badge">Not confirmed</span>`
    : html`<span class="badge">Confirmed</span>`;

const row = (visit: Visit, one: EmailRow): Html => {
  const { id: emailId, email, confirmed_at } = one;
  const resend =
    confirmed_at === null &&
    form(visit, {
      action: `${path}/${emailId}/resend`,
      submit: 'Send the mail again',
      name: `Send the mail again to ${email}`,
      isQuiet: true,
    });
  return html`<tr>
<th scope="row">${email}</th>
<td>${stateOf(one)}</td>
<td>${resend}${form(visit, { action: `${path}/${emailId}/delete`, submit: 'Delete', name: `Delete ${email}`, danger: true })}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  rows: readonly EmailRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Addresses"><table>
<thead><tr><th scope="col">Address</th><th scope="col">State</th><th scope="col">Action</th></tr></thead>
<tbody>${rows.map((one) => row(visit, one))}</tbody>
</table></div>`;

const newForm = async (visit: Visit, email: string, problems: FormProblems): Promise<Html> =>
  (await hasPassword(visit.call.db, requireUser(visit.call).id))
    ? form(
        visit,
        { action: path, submit: 'Add address', problems },
        input({
          name: 'email',
          label: 'E-mail',
          type: 'email',
          hint: 'You get a mail there, with a link that confirms the address.',
          value: email,
          required: true,
          problems,
        }),
        currentPassword(problems),
      )
    : html`<p>Your account has no password yet. <a href="/profile/password">Set password</a> first.</p>`;

type Shown = { query?: { page?: number; per_page?: number }; email?: string; problems?: FormProblems };

const listView = async (
  visit: Visit,
  { query = {}, email = '', problems = noProblems }: Shown,
): Promise<View> => {
  const { call } = visit;
  const request = pageRequest(query);
  const user = requireUser(call);
  const { items, total } = await listEmails(call.db, user.id, request);
  const isOff = !isMailOn(call.platform);
  const content = html`<p>The address of your account is ${user.email}. Confirmed further addresses also sign you in, take invitations, and show the commits that you sign with them as verified.</p>
${isOff && html`<p class="hint">This service sends no mail: an administrator can add confirmed addresses.</p>`}
${items.length === 0 ? html`<p>You have no further address.</p>` : table(visit, items)}
${pagesNav({ path, query: {}, page: request, total })}
<h2>Add an address</h2>
${await newForm(visit, email, problems)}`;
  return withFormStatus(accountView(path, 'E-mail addresses', content), problems);
};

const ownPages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object({ ...pageParams }),
    handle: async (visit, query) => await listView(visit, { query }),
  }),
  formPage({
    path,
    audience: 'user',
    address: {},
    fields: { email: text({ maxLength: 1_000 }), current_password: text({ maxLength: 1_000 }) },
    find: async () => null,
    fromSent: ({ email }) => fieldText(email),
    run: async ({ call }, _found, { email, current_password }) => {
      // The address may reset the password.
      await confirmPassword(call, current_password);
      await createEmail(call, requireUser(call).id, { email });
      return redirect(path, 'The address was added. Confirm it by the link that it gets.');
    },
    view: async (visit, _found, { values: email, problems }) => await listView(visit, { email, problems }),
  }),
  formPage({
    path: `${path}/:id/resend`,
    audience: 'user',
    address: { id: id() },
    fields: {},
    find: async (_visit, address) => address.id,
    fromSent: () => null,
    run: async ({ call }, emailId) => {
      await resendConfirmation(call, requireUser(call).id, emailId);
      return redirect(path, 'The mail was requested again.');
    },
    view: () => redirect(path, 'The address was already confirmed.'),
  }),
  page({
    method: 'POST',
    path: `${path}/:id/delete`,
    audience: 'user',
    params: object({ id: id() }),
    handle: async ({ call }, params) => {
      await removeEmail(call, requireUser(call).id, params.id);
      return redirect(path, 'The address was deleted.');
    },
  }),
];

const shared = { audience: 'anyone', withoutRequiredFactor: true } as const;
const token = () => optional(text({ maxLength: 200 }));

const expiredView = (reason = 'has expired or was used already: request another one'): View =>
  withRefusal(
    headedView(
      'Expired link',
      html`<p>This link ${reason}.</p>
<p><a href="${path}">Your e-mail addresses</a></p>`,
    ),
  );

const linkPages = [
  page({
    ...shared,
    method: 'GET',
    path: confirmationPath,
    params: object({ token: token() }),
    handle: async (visit, { token: link = '' }) => {
      const email = await readEmailToken(visit.call.platform, visit.call, link);
      if (email === null) return expiredView();
      return headedView(
        'Confirm your address',
        html`<p>Confirm that ${email.email} is yours.</p>
${form(visit, { action: confirmationPath, submit: 'Confirm' }, hidden('token', link))}`,
      );
    },
  }),
  formPage({
    ...shared,
    path: confirmationPath,
    address: { token: token() },
    fields: {},
    find: async (_visit, { token: link = '' }) => link,
    fromSent: () => null,
    run: async ({ call }, link) => {
      await confirmEmail(call.platform, link);
      return redirect(call.signedIn ? path : '/users/sign_in', 'Your address was confirmed.');
    },
    view: (_visit, _link, { problems }) => expiredView(problems.fields['token']?.[0]),
  }),
];

export const pages = [...ownPages, ...linkPages];
