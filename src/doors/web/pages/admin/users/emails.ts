/** Further e-mail addresses of a user, for administrators. */
import { createEmail, removeEmail, resendConfirmation } from '../../../../../identity/emails/change.ts';
import { type EmailRow, listEmails } from '../../../../../identity/emails/queries.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { isMailOn } from '../../../../../core/mail/enqueue_mails.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { boolean, id, object, text } from '../../../../../platform/http/schema.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { fieldText, isTicked } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { checkbox, form, input } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { momentOr } from '../../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { accessTable } from './access_table.ts';
import { addCard } from './add_card.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

type AddressValues = { email: string; skip_confirmation: boolean };

const blank: AddressValues = { email: '', skip_confirmation: false };

const pathOf = (userId: number): string => `${usersPath}/${userId}/emails`;

const addressRow = (visit: Visit, { id: emailId, user_id, email, confirmed_at }: EmailRow): Html => {
  const own = `${pathOf(user_id)}/${emailId}`;
  const resend =
    confirmed_at === null &&
    form(visit, {
      action: `${own}/resend`,
      submit: 'Send the mail again',
      name: `Send the mail again to ${email}`,
      isQuiet: true,
    });
  return html`<tr>
<th scope="row">${email}</th><td>${momentOr(confirmed_at, 'Not confirmed')}</td>
<td>${resend}${form(visit, { action: `${own}/delete`, submit: 'Delete', name: `Delete ${email}`, danger: true, isQuiet: true })}</td>
</tr>
`;
};

const newForm = (visit: Visit, user: UserRow, { values, problems }: FormState<AddressValues>): Html =>
  form(
    visit,
    { action: pathOf(user.id), submit: 'Add address', problems },
    input({
      name: 'email',
      label: 'E-mail',
      type: 'email',
      value: values.email,
      autocomplete: 'off',
      required: true,
      problems,
    }),
    checkbox({
      name: 'skip_confirmation',
      label: 'Confirmed',
      hint: 'You vouch for the address. Otherwise it gets a mail, with a link that confirms it.',
      checked: values.skip_confirmation,
      problems,
    }),
  );

const emailsView = async (
  visit: Visit,
  user: UserRow,
  state: FormState<AddressValues>,
  query: { page?: number; per_page?: number } = {},
): Promise<View> => {
  const at = pageRequest(query);
  const { db, platform } = visit.call;
  const { items, total } = await listEmails(db, user.id, at);
  const rows = items.map((one) => addressRow(visit, one));
  const list =
    rows.length === 0
      ? html`<div class="card">${emptyState({ icon: 'user', title: 'No further addresses' })}</div>`
      : accessTable('Further addresses', ['Address', 'Confirmed', 'Action'], rows);
  const content = html`<p>The address of the account is ${user.email}; <a href="${usersPath}/${user.id}/edit">edit the user</a> to change it. Confirmed further addresses also sign in, and show commits with them as the user's.</p>
${!isMailOn(platform) && html`<p class="hint">This service sends no mail, so no address is confirmed by a link.</p>`}
${list}
${pagesNav({ path: pathOf(user.id), query: {}, page: at, total })}
${await addCard(visit, user, 'Add an address', newForm(visit, user, state))}`;
  return userView(visit, { user, tab: 'emails', title: `E-mail addresses of ${user.name}` }, content);
};

export const emailPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/emails`,
    audience: 'admin',
    params: object({ id: id(), ...pageParams }),
    handle: async (visit, { id: userId, ...query }) =>
      await emailsView(visit, await loadChangeable(visit, userId), unsent(blank), query),
  }),
  formPage({
    path: `${usersPath}/:id/emails`,
    audience: 'admin',
    address: { id: id() },
    fields: { email: text({ maxLength: 1_000 }), skip_confirmation: boolean({ default: false }) },
    find: async (visit, address) => await loadChangeable(visit, address.id),
    fromSent: (sent) => ({
      email: fieldText(sent['email']),
      skip_confirmation: isTicked(sent['skip_confirmation']),
    }),
    run: async ({ call }, user, { email, skip_confirmation: isConfirmed }) => {
      await createEmail(call, user.id, { email, isConfirmed });
      return redirect(pathOf(user.id), 'The address was added.');
    },
    view: emailsView,
  }),
  formPage({
    path: `${usersPath}/:id/emails/:email_id/resend`,
    audience: 'admin',
    address: { id: id(), email_id: id() },
    fields: {},
    find: async (_visit, address) => address,
    fromSent: () => null,
    run: async ({ call }, { id: userId, email_id }) => {
      await resendConfirmation(call, userId, email_id);
      return redirect(pathOf(userId), 'The mail was requested again.');
    },
    view: (_visit, address) => redirect(pathOf(address.id), 'The address was already confirmed.'),
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/emails/:email_id/delete`,
    audience: 'admin',
    params: object({ id: id(), email_id: id() }),
    handle: async ({ call }, { id: userId, email_id }) => {
      await removeEmail(call, userId, email_id);
      return redirect(pathOf(userId), 'The address was deleted.');
    },
  }),
];
