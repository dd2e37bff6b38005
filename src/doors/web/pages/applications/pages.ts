import { type Call, requireActor, requireUser } from '../../../../core/access/call.ts';
import { forbidden, notFound } from '../../../../platform/errors.ts';
import { boolean, id, object, text, texts } from '../../../../platform/http/schema.ts';
import { createApplication } from '../../../../identity/oauth/create_application.ts';
import { deleteApplication } from '../../../../identity/oauth/delete_application.ts';
import {
  type Application,
  type Authorized,
  listAuthorized,
  findApplication,
  listOwnApplications,
} from '../../../../identity/oauth/queries.ts';
import { revokeAuthorization } from '../../../../identity/oauth/revoke_tokens.ts';
import { tokenScopes } from '../../../../identity/tokens/rules.ts';
import { checkbox, checkboxes, form, input, textArea } from '../../parts/form.ts';
import { withFormStatus } from '../../parts/form_problems.ts';
import { isTicked, readList, readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { scopeMeanings } from '../tokens/scope_descriptions.ts';
import { accountView } from '../../parts/frame/account_layout.ts';

const listPath = '/profile/applications';

const applicationFields = {
  name: text({ maxLength: 2000 }),
  redirect_uri: text({ maxLength: 20_000 }),
  confidential: boolean({ default: true }),
  scopes: { ...texts(), default: [] as string[] },
};

type Filled = { name: string; redirect_uri: string; confidential: boolean; scopes: readonly string[] };

const blank: Filled = { name: '', redirect_uri: '', confidential: true, scopes: [] };

/** Returns whether this user may register applications; otherwise only administrators may. */
const mayRegister = ({ settings, admin }: Call): boolean => settings.user_oauth_applications || admin;

const ownTable = (visit: Visit, own: readonly Application[]): Html => html`<div class="wide"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Application ID</th><th scope="col">Callback URLs</th>
<th scope="col">Scopes</th><th scope="col">Action</th></tr></thead>
<tbody>${own.map(
  (one) => html`<tr>
<th scope="row">${one.name}${!one.confidential && html` <span class="badge">not confidential</span>`}</th>
<td><code>${one.uid}</code></td>
<td class="lines">${one.redirect_uris.join('\n')}</td>
<td>${one.scopes.join(' ')}</td>
<td>${form(visit, { action: `${listPath}/${one.id}/delete`, submit: 'Delete', danger: true })}</td>
</tr>
`,
)}</tbody>
</table></div>`;

const authorizedTable = (
  visit: Visit,
  authorized: readonly Authorized[],
): Html => html`<div class="wide"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Scopes</th><th scope="col">Action</th></tr></thead>
<tbody>${authorized.map(
  ({ application, scopes }) => html`<tr>
<th scope="row">${application?.name ?? 'Applications'}</th>
<td>${scopes.join(' ')}</td>
<td>${form(visit, {
    action: `${listPath}/authorized/${application?.id ?? 0}/revoke`,
    submit: 'Revoke',
    danger: true,
  })}</td>
</tr>
`,
)}</tbody>
</table></div>`;

const newForm = (visit: Visit, { values, problems }: FormState<Filled>): Html =>
  form(
    visit,
    { action: listPath, submit: 'Register', problems },
    input({ name: 'name', label: 'Name', value: values.name, required: true, problems }),
    textArea({
      name: 'redirect_uri',
      label: 'Callback URLs',
      hint: 'Users are redirected here after they authorize the application. One per line.',
      value: values.redirect_uri,
      rows: 3,
      problems,
    }),
    checkbox({
      name: 'confidential',
      label: 'Confidential',
      hint: 'For applications that can keep a secret: programs on a server, not on a phone or in a browser.',
      checked: values.confidential,
    }),
    checkboxes({
      name: 'scopes',
      label: 'Scopes',
      values: values.scopes,
      boxes: tokenScopes.map((scope) => ({ value: scope, label: scope, hint: scopeMeanings[scope] })),
      problems,
    }),
  );

const listView = async (visit: Visit, state: FormState<Filled> = unsent(blank)): Promise<View> => {
  const { call } = visit;
  const { id } = requireUser(call);
  const [own, authorized] = await Promise.all([
    listOwnApplications(call.db, id),
    listAuthorized(call.db, id, call.now),
  ]);
  const view = accountView(
    listPath,
    'Applications',
    html`<h2>Authorized</h2>
${authorized.length === 0 ? html`<p>No application has access to your account.</p>` : authorizedTable(visit, authorized)}
<h2>Your own</h2>
${own.length === 0 ? html`<p>You have no applications yet.</p>` : ownTable(visit, own)}
<h2>Register an application</h2>
${mayRegister(call) ? newForm(visit, state) : html`<p>On this service, only administrators register applications.</p>`}`,
  );
  return withFormStatus(view, state.problems);
};

const madeView = ({ uid, name }: Application, secret: string): View =>
  accountView(
    listPath,
    'Application registered',
    html`<p>${name} was registered. Copy the secret now: it is not shown again.</p>
<dl><dt>Application ID</dt><dd><code class="secret">${uid}</code></dd>
<dt>Secret</dt><dd><code class="secret">${secret}</code></dd></dl>
<p><a href="${listPath}">Back to your applications</a></p>`,
  );

/** Finds an application of the user; others count as missing. */
const ownApplication = async (call: Call, id: number): Promise<Application> => {
  const application = await findApplication(call.db, id);
  if (application === undefined || application.owner_id !== requireUser(call).id)
    throw notFound('Application');
  return application;
};

const register = formPage({
  path: listPath,
  audience: 'user',
  address: {},
  fields: applicationFields,
  find: async ({ call }) => {
    if (!mayRegister(call)) throw forbidden('Only administrators register applications.');
    return requireUser(call);
  },
  fromSent: (sent): Filled => ({
    ...readTexts(sent, ['name', 'redirect_uri']),
    confidential: isTicked(sent['confidential']),
    scopes: readList(sent['scopes']),
  }),
  run: async ({ call }, { id: owner_id }, { scopes, ...params }) => {
    const application = { ...params, scopes: scopes.join(' '), trusted: false, owner_id };
    const made = await createApplication(call.platform, requireActor(call), call, application);
    return madeView(await ownApplication(call, made.id), made.secret);
  },
  view: async (visit, _user, state) => await listView(visit, state),
});

export const pages = [
  page({
    method: 'GET',
    path: listPath,
    audience: 'user',
    params: object({}),
    handle: async (visit) => await listView(visit),
  }),
  register,
  page({
    method: 'POST',
    path: `${listPath}/:id/delete`,
    audience: 'user',
    params: object({ id: id() }),
    handle: async ({ call }, params) => {
      const application = await ownApplication(call, params.id);
      await deleteApplication(call.platform.store, requireActor(call), call, application);
      return redirect(listPath, `${application.name} was deleted. Its tokens were revoked.`);
    },
  }),
  page({
    method: 'POST',
    path: `${listPath}/authorized/:id/revoke`,
    audience: 'user',
    params: object({ id: id() }),
    handle: async ({ call }, params) => {
      const which = params.id === 0 ? null : params.id;
      await revokeAuthorization(call.platform.store, requireActor(call), call, which);
      return redirect(listPath, 'The application can no longer use your account.');
    },
  }),
];
