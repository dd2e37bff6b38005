/** SSH keys and GPG keys of a user, for administrators. */
import { createGpgKey, maxGpgKeyLength, removeGpgKey } from '../../../../../identity/gpg_keys/change.ts';
import { type GpgKeyRow, listGpgKeys, readGpgUsers } from '../../../../../identity/gpg_keys/queries.ts';
import { createKey } from '../../../../../identity/keys/create.ts';
import { deleteKey } from '../../../../../identity/keys/delete.ts';
import { type KeyRow, listKeys } from '../../../../../identity/keys/queries.ts';
import type { UserRow } from '../../../../../identity/users/queries.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object, text } from '../../../../../platform/http/schema.ts';
import { parseTime } from '../../../../../platform/time.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { readTexts } from '../../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { form, textArea } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { pagesNav } from '../../../parts/paging.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { assignGpgKeyProblems } from '../../gpg_keys/key_problems.ts';
import { type KeyValues, fromSent, keyInputs, newKeyParams } from '../../keys/key_form.ts';
import { assignKeyProblems } from '../../keys/key_problems.ts';
import { lastUse } from '../../tokens/token_form.ts';
import { accessTable } from './access_table.ts';
import { addCard } from './add_card.ts';
import { loadChangeable } from './create_and_edit.ts';
import { usersPath } from './list.ts';
import { userView } from './user_page.ts';

type Paging = { page?: number; per_page?: number };

const keyRow = (visit: Visit, userId: number, key: KeyRow): Html => html`<tr>
<th scope="row">${key.title}<br><code class="quiet">SHA256:${key.fingerprint_sha256}</code></th>
<td>${moment(key.created_at)}</td><td>${lastUse(key)}</td><td>${momentOr(key.expires_at, 'Never')}</td>
<td>${form(visit, { action: `${usersPath}/${userId}/keys/${key.id}/delete`, submit: 'Delete', name: `Delete ${key.title}`, danger: true })}</td>
</tr>
`;

const keyHeads = ['Key', 'Created', 'Last used', 'Expires', 'Action'];

const keysView = async (
  visit: Visit,
  user: UserRow,
  { values, problems }: FormState<KeyValues>,
  query: Paging = {},
): Promise<View> => {
  const at = pageRequest(query);
  const path = `${usersPath}/${user.id}/keys`;
  const { items, total } = await listKeys(visit.call.db, user.id, at);
  const rows = items.map((key) => keyRow(visit, user.id, key));
  const list =
    rows.length === 0
      ? html`<div class="card">${emptyState({ icon: 'key', title: 'No SSH keys' })}</div>`
      : accessTable('SSH keys', keyHeads, rows);
  const add = html`<p>The key signs in as the user. They get a mail about it.</p>
${form(visit, { action: path, submit: 'Add key', problems }, keyInputs(values, problems))}`;
  const content = html`${list}
${pagesNav({ path, query: {}, page: at, total })}
${await addCard(visit, user, 'Add a key', add)}`;
  return userView(visit, { user, tab: 'keys', title: `SSH keys of ${user.name}` }, content);
};

const sshPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/keys`,
    audience: 'admin',
    params: object({ id: id(), ...pageParams }),
    handle: async (visit, { id: userId, ...query }) =>
      await keysView(visit, await loadChangeable(visit, userId), unsent({ key: '' }), query),
  }),
  formPage({
    path: `${usersPath}/:id/keys`,
    audience: 'admin',
    address: { id: id() },
    fields: newKeyParams,
    find: async (visit, address) => await loadChangeable(visit, address.id),
    fromSent,
    toProblems: assignKeyProblems,
    run: async ({ call }, user, { title, key, expires_at }) => {
      const end = typeof expires_at === 'string' ? parseTime(expires_at) : null;
      await createKey(call, user.id, { title, key, expires_at: end });
      return redirect(`${usersPath}/${user.id}/keys`, 'The key was added.');
    },
    view: keysView,
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/keys/:key_id/delete`,
    audience: 'admin',
    params: object({ id: id(), key_id: id() }),
    handle: async ({ call }, { id: userId, key_id }) => {
      await deleteKey(call, userId, key_id);
      return redirect(`${usersPath}/${userId}/keys`, 'The key was deleted.');
    },
  }),
];

const gpgKeyRow = (visit: Visit, userId: number, key: GpgKeyRow): Html => html`<tr>
<th scope="row">${readGpgUsers(key).map(({ email }) => html`<div>${email}</div>`)}<code class="quiet">${key.fingerprint}</code></th>
<td>${moment(key.created_at)}</td>
<td>${form(visit, { action: `${usersPath}/${userId}/gpg_keys/${key.id}/delete`, submit: 'Delete', name: `Delete the key ${key.primary_keyid}`, danger: true })}</td>
</tr>
`;

const gpgHeads = ['Addresses and fingerprint', 'Created', 'Action'];

const gpgKeysView = async (
  visit: Visit,
  user: UserRow,
  { values, problems }: FormState<{ key: string }>,
  query: Paging = {},
): Promise<View> => {
  const at = pageRequest(query);
  const path = `${usersPath}/${user.id}/gpg_keys`;
  const { items, total } = await listGpgKeys(visit.call.db, user.id, at);
  const rows = items.map((key) => gpgKeyRow(visit, user.id, key));
  const list =
    rows.length === 0
      ? html`<div class="card">${emptyState({ icon: 'key', title: 'No GPG keys' })}</div>`
      : accessTable('GPG keys', gpgHeads, rows);
  const field = textArea({
    name: 'key',
    label: 'Key',
    hint: html`The public one, with a confirmed address of the user: what <code>gpg --armor --export ADDRESS</code> prints.`,
    value: values.key,
    rows: 8,
    problems,
  });
  const content = html`<p>Commits signed with one of these keys are shown as verified, if they name a confirmed address of the user.</p>
${list}
${pagesNav({ path, query: {}, page: at, total })}
${await addCard(visit, user, 'Add a key', form(visit, { action: path, submit: 'Add key', problems }, field))}`;
  return userView(visit, { user, tab: 'gpg_keys', title: `GPG keys of ${user.name}` }, content);
};

const gpgPages = [
  page({
    method: 'GET',
    path: `${usersPath}/:id/gpg_keys`,
    audience: 'admin',
    params: object({ id: id(), ...pageParams }),
    handle: async (visit, { id: userId, ...query }) =>
      await gpgKeysView(visit, await loadChangeable(visit, userId), unsent({ key: '' }), query),
  }),
  formPage({
    path: `${usersPath}/:id/gpg_keys`,
    audience: 'admin',
    address: { id: id() },
    fields: { key: text({ maxLength: maxGpgKeyLength }) },
    find: async (visit, address) => await loadChangeable(visit, address.id),
    fromSent: (sent) => readTexts(sent, ['key']),
    toProblems: assignGpgKeyProblems,
    run: async ({ call }, user, { key }) => {
      await createGpgKey(call, user.id, key);
      return redirect(`${usersPath}/${user.id}/gpg_keys`, 'The key was added.');
    },
    view: gpgKeysView,
  }),
  page({
    method: 'POST',
    path: `${usersPath}/:id/gpg_keys/:key_id/delete`,
    audience: 'admin',
    params: object({ id: id(), key_id: id() }),
    handle: async ({ call }, { id: userId, key_id }) => {
      await removeGpgKey(call, userId, { id: key_id });
      return redirect(`${usersPath}/${userId}/gpg_keys`, 'The key was deleted.');
    },
  }),
];

export const keyPages = [...sshPages, ...gpgPages];
