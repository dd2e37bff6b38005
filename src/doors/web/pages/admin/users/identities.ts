/** Accounts of a user at sign-in providers, for administrators. */
import { requireActor } from '../../../../../core/access/call.ts';
import { assignIdentity } from '../../../../../identity/identities/assign_identity.ts';
import { unlinkIdentity } from '../../../../../identity/identities/link_identity.ts';
import { type Identity, listIdentities } from '../../../../../identity/identities/queries.ts';
import { type UserRow, lockUser } from '../../../../../identity/users/queries.ts';
import { id, object, optional, text } from '../../../../../platform/http/schema.ts';
import { invalid } from '../../../../../platform/errors.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { readTexts } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { accessTable } from './access_table.ts';
import { addCard } from './add_card.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

const names = ['provider', 'extern_uid'] as const;

type Values = Record<(typeof names)[number], string>;

const pathOf = (userId: number): string => `${usersPath}/${userId}/identities`;

const row = (visit: Visit, { user_id, provider, extern_uid }: Identity): Html => html`<tr>
<th scope="row">${provider}</th><td><code>${extern_uid}</code></td>
<td>${form(visit, { action: `${pathOf(user_id)}/delete`, submit: 'Unlink', name: `Unlink ${provider}`, danger: true, isQuiet: true }, hidden('provider', provider))}</td>
</tr>
`;

const newForm = (visit: Visit, user: UserRow, { values, problems }: FormState<Values>): Html =>
  form(
    visit,
    { action: pathOf(user.id), submit: 'Link account', problems },
    input({
      name: 'provider',
      label: 'Provider',
      hint: 'Name of a sign-in provider, as in the configuration of the service.',
      value: values.provider,
      required: true,
      suggestions: visit.call.platform.config.sign_in_providers.map(({ name }) => name),
      problems,
    }),
    input({
      name: 'extern_uid',
      label: 'Id at the provider',
      hint: html`The claim <code>sub</code> of OpenID Connect. It takes the place of another account of the user there.`,
      value: values.extern_uid,
      autocomplete: 'off',
      required: true,
      problems,
    }),
  );

const identitiesView = async (visit: Visit, user: UserRow, state: FormState<Values>): Promise<View> => {
  const rows = (await listIdentities(visit.call.db, user.id)).map((one) => row(visit, one));
  const list =
    rows.length === 0
      ? html`<div class="card">${emptyState({ icon: 'link', title: 'No linked accounts' })}</div>`
      : accessTable('Linked accounts', ['Provider', 'Id', 'Action'], rows);
  const content = html`<p>The user signs in with these accounts at sign-in providers.</p>
${list}
${await addCard(visit, user, 'Link an account', newForm(visit, user, state))}`;
  return userView(visit, { user, tab: 'identities', title: `Linked accounts of ${user.name}` }, content);
};

const requireText = (values: Values): void => {
  const blank = names.filter((name) => values[name] === '');
  if (blank.length > 0) throw invalid(Object.fromEntries(blank.map((name) => [name, ["can't be blank"]])));
};

export const identityPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/identities`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) =>
      await identitiesView(
        visit,
        await loadChangeable(visit, params.id),
        unsent({ provider: '', extern_uid: '' }),
      ),
  }),
  formPage({
    path: `${usersPath}/:id/identities`,
    audience: 'admin',
    address: { id: id() },
    fields: { provider: optional(text()), extern_uid: optional(text()) },
    find: async (visit, address) => await loadChangeable(visit, address.id),
    fromSent: (sent): Values => readTexts(sent, names),
    run: async ({ call }, user, { provider = '', extern_uid = '' }) => {
      const identity = { provider: provider.trim(), extern_uid: extern_uid.trim() };
      requireText(identity);
      await call.write(async (tx) => {
        const { id: user_id } = await lockUser(tx, user.id);
        await assignIdentity(tx, call, { user_id, ...identity });
      });
      return redirect(pathOf(user.id), 'The account was linked.');
    },
    view: identitiesView,
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/identities/delete`,
    audience: 'admin',
    params: object({ id: id(), provider: text() }),
    handle: async (visit, { id: userId, provider }) => {
      const { call } = visit;
      const user = await loadChangeable(visit, userId);
      const account = { user_id: user.id, provider };
      await unlinkIdentity(call.platform.store, requireActor(call), call, account);
      return redirect(pathOf(user.id), 'The account was unlinked.');
    },
  }),
];
