import { requireUser } from '../../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { createKey } from '../../../../identity/keys/create.ts';
import { deleteKey } from '../../../../identity/keys/delete.ts';
import { type KeyRow, listKeys } from '../../../../identity/keys/queries.ts';
import { parseTime } from '../../../../platform/time.ts';
import { form } from '../../parts/form.ts';
import { withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment, momentOr } from '../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type KeyValues, fromSent, keyInputs, newKeyParams } from './key_form.ts';
import { assignKeyProblems } from './key_problems.ts';
import { lastUse } from '../tokens/token_form.ts';
import { accountView } from '../../parts/frame/account_layout.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';

const path = '/profile/keys';

const newForm = (visit: Visit, { values, problems }: FormState<KeyValues>): Html =>
  form(visit, { action: path, submit: 'Add key', problems }, keyInputs(values, problems));

const row = (visit: Visit, key: KeyRow): Html => {
  const isOver = key.expires_at !== null && key.expires_at <= visit.call.now;
  return html`<tr>
<th scope="row">${key.title}${isOver && html` <span class="badge">Expired</span>`}<br><code class="quiet">SHA256:${key.fingerprint_sha256}</code></th>
<td>${key.type}<br><span class="quiet">${key.bits} bits</span></td>
<td>${moment(key.created_at)}</td>
<td>${momentOr(key.expires_at, 'Never')}</td>
<td>${lastUse(key)}</td>
<td>${form(visit, { action: `${path}/${key.id}/delete`, submit: 'Delete', danger: true })}</td>
</tr>
`;
};

const table = (
  visit: Visit,
  keys: readonly KeyRow[],
): Html => html`<div class="wide" tabindex="0" role="region" aria-label="Keys"><table>
<thead><tr><th scope="col">Title and fingerprint</th><th scope="col">Type</th><th scope="col">Added</th>
<th scope="col">Expires</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>${keys.map((key) => row(visit, key))}</tbody>
</table></div>`;

type PageQuery = { page?: number; per_page?: number };

const listView = async (
  visit: Visit,
  query: PageQuery = {},
  state: FormState<KeyValues> = unsent({ key: '' }),
): Promise<View> => {
  const requestedPage = pageRequest(query);
  const { items, total } = await listKeys(visit.call.db, requireUser(visit.call).id, requestedPage);
  const content = html`<p>These keys give SSH access to your account.</p>
${items.length === 0 ? html`<p>You have no key yet.</p>` : table(visit, items)}
${pagesNav({ path, query: {}, page: requestedPage, total })}
<h2>Add a key</h2>
${newForm(visit, state)}`;
  const view = accountView(path, 'SSH keys', content);
  return withFormStatus(view, state.problems);
};

const add = formPage({
  path,
  audience: 'user',
  address: {},
  fields: newKeyParams,
  find: async () => null,
  fromSent,
  toProblems: assignKeyProblems,
  run: async ({ call }, _found, { title, key, expires_at: day }) => {
    const expires_at = typeof day === 'string' ? parseTime(day) : null;
    await createKey(call, requireUser(call).id, { title, key, expires_at });
    return redirect(path, 'The key was added.');
  },
  view: async (visit, _found, state) => await listView(visit, {}, state),
});

const remove = page({
  method: 'POST',
  path: `${path}/:id/delete`,
  audience: 'user',
  params: object({ id: id() }),
  handle: async (visit, params) => {
    await deleteKey(visit.call, requireUser(visit.call).id, params.id);
    return redirect(path, 'The key was deleted.');
  },
});

export const pages = [
  page({
    method: 'GET',
    path,
    audience: 'user',
    params: object(pageParams),
    handle: async (visit, query) => await listView(visit, query),
  }),
  add,
  remove,
];
