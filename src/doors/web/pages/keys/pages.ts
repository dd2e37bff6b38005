import { requireUser } from '../../../../core/access/call.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { createKey } from '../../../../identity/keys/create.ts';
import { deleteKey } from '../../../../identity/keys/delete.ts';
import { type KeyRow, listKeys } from '../../../../identity/keys/queries.ts';
import { parseTime } from '../../../../platform/time.ts';
import { type FormProblems, attempt, form, noProblems, withFormStatus } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { moment, momentOr } from '../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { pagesNav } from '../../parts/paging.ts';
import { type KeyValues, fromSent, keyInputs, newKeyParams } from './key_form.ts';
import { assignKeyProblems } from './key_problems.ts';
import { lastUse } from '../tokens/token_form.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const path = '/profile/keys';

const filled = object(newKeyParams);

const newForm = (visit: Visit, given: KeyValues, problems: FormProblems): Html =>
  form(visit, { action: path, submit: 'Add key', problems }, keyInputs(given, problems));

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
  given: KeyValues = { key: '' },
  problems = noProblems,
): Promise<View> => {
  const wanted = pageRequest(query);
  const { items, total } = await listKeys(visit.call.db, requireUser(visit.call).id, wanted);
  const content = html`<p>These keys give SSH access to your account.</p>
${items.length === 0 ? html`<p>You have no key yet.</p>` : table(visit, items)}
${pagesNav({ path, query: {}, page: wanted, total })}
<h2>Add a key</h2>
${newForm(visit, given, problems)}`;
  const view = accountView(path, 'SSH keys', content);
  return withFormStatus(view, problems);
};

const add = page({
  method: 'POST',
  path,
  audience: 'user',
  params: filled,
  invalid: async (visit, sent, fields) => await listView(visit, {}, fromSent(sent), { text: null, fields }),
  handle: async (visit, given) => {
    const { call } = visit;
    const expires_at = typeof given.expires_at === 'string' ? parseTime(given.expires_at) : null;
    const problems = await attempt(
      async () =>
        await createKey(call, requireUser(call).id, { title: given.title, key: given.key, expires_at }),
    );
    if (problems !== null) return await listView(visit, {}, given, assignKeyProblems(problems));
    return redirect(path, 'The key was added.');
  },
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
