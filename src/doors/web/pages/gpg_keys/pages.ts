/** The user's own GPG keys, by which signatures of their commits are verified. */
import { requireUser } from '../../../../core/access/call.ts';
import { createGpgKey, maxGpgKeyLength, removeGpgKey } from '../../../../identity/gpg_keys/change.ts';
import { type GpgKeyRow, listGpgKeys, readGpgUsers } from '../../../../identity/gpg_keys/queries.ts';
import { loadFurtherAddresses } from '../../../../identity/users/addresses/further_addresses.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object, text } from '../../../../platform/http/schema.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { form, textArea } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { pagesNav } from '../../parts/paging.ts';
import { moment } from '../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { assignGpgKeyProblems } from './key_problems.ts';

const path = '/profile/gpg_keys';

const newForm = (visit: Visit, key: string, problems: FormProblems): Html =>
  form(
    visit,
    { action: path, submit: 'Add key', problems },
    textArea({
      name: 'key',
      label: 'Key',
      hint: html`The public one, with the address of your account: what <code>gpg --armor --export ADDRESS</code> prints.`,
      value: key,
      rows: 8,
      problems,
    }),
  );

const row = (visit: Visit, own: readonly string[], key: GpgKeyRow): Html => {
  const users = readGpgUsers(key).map(
    ({ email }) =>
      html`<div>${email} ${own.includes(email) ? html`<span class="badge">Yours</span>` : html`<span class="badge">Not your address</span>`}</div>`,
  );
  return html`<tr>
<th scope="row">${users}<code class="quiet">${key.fingerprint}</code></th>
<td>${moment(key.created_at)}</td>
<td>${form(visit, { action: `${path}/${key.id}/delete`, submit: 'Delete', name: `Delete the key ${key.primary_keyid}`, danger: true })}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  own: readonly string[],
  keys: readonly GpgKeyRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Keys"><table>
<thead><tr><th scope="col">Addresses and fingerprint</th><th scope="col">Added</th><th scope="col">Action</th></tr></thead>
<tbody>${keys.map((key) => row(visit, own, key))}</tbody>
</table></div>`;

type Shown = { query?: { page?: number; per_page?: number }; key?: string; problems?: FormProblems };

const listView = async (
  visit: Visit,
  { query = {}, key = '', problems = noProblems }: Shown,
): Promise<View> => {
  const request = pageRequest(query);
  const { db } = visit.call;
  const user = requireUser(visit.call);
  const { items, total } = await listGpgKeys(db, user.id, request);
  const own = [user.email.toLowerCase(), ...(await loadFurtherAddresses(db, user.id))];
  const content = html`<p>Commits that you sign with one of these keys are shown as verified. Without the key, they are shown as unverified.</p>
${items.length === 0 ? html`<p>You have no key yet.</p>` : table(visit, own, items)}
${pagesNav({ path, query: {}, page: request, total })}
<h2>Add a key</h2>
${newForm(visit, key, problems)}`;
  return withFormStatus(accountView(path, 'GPG keys', content), problems);
};

const add = formPage({
  path,
  audience: 'user',
  address: {},
  fields: { key: text({ maxLength: maxGpgKeyLength }) },
  find: async () => null,
  fromSent: ({ key }) => fieldText(key),
  toProblems: assignGpgKeyProblems,
  run: async ({ call }, _found, { key }) => {
    await createGpgKey(call, requireUser(call).id, key);
    return redirect(path, 'The key was added.');
  },
  view: async (visit, _found, { values: key, problems }) => await listView(visit, { key, problems }),
});

const remove = page({
  method: 'POST',
  path: `${path}/:id/delete`,
  audience: 'user',
  params: object({ id: id() }),
  handle: async (visit, params) => {
    await removeGpgKey(visit.call, requireUser(visit.call).id, { id: params.id });
    return redirect(path, 'The key was deleted.');
  },
});

const list = page({
  method: 'GET',
  path,
  audience: 'user',
  params: object({ ...pageParams }),
  handle: async (visit, query) => await listView(visit, { query }),
});

export const pages = [list, add, remove];
