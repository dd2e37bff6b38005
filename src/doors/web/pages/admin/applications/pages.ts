/** OAuth applications of the instance and of users, for administrators. */
import { requireActor } from '../../../../../core/access/call.ts';
import { createApplication } from '../../../../../identity/oauth/create_application.ts';
import { deleteApplication } from '../../../../../identity/oauth/delete_application.ts';
import {
  type Application,
  findApplication,
  listApplications,
} from '../../../../../identity/oauth/queries.ts';
import { type BasicUserRow, basicUsersById } from '../../../../../identity/users/json.ts';
import { notFound } from '../../../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../../../platform/http/page.ts';
import { id, object } from '../../../../../platform/http/schema.ts';
import { form } from '../../../parts/form.ts';
import { withFormStatus } from '../../../parts/form_problems.ts';
import { type FormState, formPage, unsent } from '../../../parts/fields/form_page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { moment } from '../../../parts/timestamp.ts';
import { type View, type Visit, page, redirect } from '../../../page.ts';
import { adminListView } from '../admin_list.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import {
  type FilledApplication,
  applicationFields,
  applicationParams,
  blankApplication,
  fromSent,
} from './application_fields.ts';

const path = '/admin/applications';

const line = (
  visit: Visit,
  one: Application,
  owner: BasicUserRow | undefined,
): Html => html`<li><span class="lead muted">${icon('key')}</span>
<span class="row tight"><span class="title">${one.name}</span>${one.owner_id === null && html`<span class="badge">Instance-wide</span>`}${
  one.trusted && html`<span class="badge">Trusted</span>`
}${!one.confidential && html`<span class="badge">Not confidential</span>`}</span>
<span class="meta"><span>${owner !== undefined && html`by <a href="/admin/users/${owner.id}">@${owner.username}</a> · `}created ${moment(one.created_at)} · ${one.scopes.join(' ')}<br>
ID <code>${one.uid}</code><br>${one.redirect_uris.join(' ')}</span></span>
<span class="side">${form(visit, { action: `${path}/${one.id}/delete`, submit: 'Delete', name: `Delete ${one.name}`, danger: true })}</span></li>
`;

const newView = (visit: Visit, { values, problems }: FormState<FilledApplication>): View => {
  const content = form(
    visit,
    { action: path, submit: 'Create application', problems },
    ...applicationFields(values, problems),
  );
  const view = adminView({ path, title: 'New application' }, content);
  return withFormStatus(view, problems);
};

const madeView = ({ uid, name }: Application, secret: string): View =>
  adminView(
    { path, title: 'Application created' },
    html`<p>${name} was registered. Copy the secret now: it is not shown again.</p>
<dl><dt>Application ID</dt><dd><code class="secret">${uid}</code></dd>
<dt>Secret</dt><dd><code class="secret">${secret}</code></dd></dl>
<p><a href="${path}">Back to the applications</a></p>`,
  );

const load = async ({ call: { db } }: Visit, applicationId: number): Promise<Application> => {
  const application = await findApplication(db, applicationId);
  if (application === undefined) throw notFound('Application');
  return application;
};

const create = formPage({
  path,
  audience: 'admin',
  address: {},
  fields: applicationParams,
  find: async () => null,
  fromSent,
  run: async (visit, _found, { scopes, ...params }) => {
    const { call } = visit;
    const application = { ...params, scopes: scopes.join(' '), owner_id: null };
    const { id: applicationId, secret } = await createApplication(
      call.platform,
      requireActor(call),
      call,
      application,
    );
    return madeView(await load(visit, applicationId), secret);
  },
  view: (visit, _found, state) => newView(visit, state),
});

export const applicationPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object(pageParams),
    handle: async (visit, query) => {
      const { db } = visit.call;
      const requestedPage = pageRequest(query);
      const { items, total } = await listApplications(db, requestedPage);
      const owners = await basicUsersById(
        db,
        items.map(({ owner_id }) => owner_id).filter((owner) => owner !== null),
      );
      return adminListView({
        path,
        title: 'Applications',
        head: html`<p>OAuth applications that sign users in or use the API on their behalf.</p>
<a class="button primary" href="${path}/new">${icon('plus')} New application</a>`,
        noun: 'application',
        rows: items.map((one) => line(visit, one, owners.get(one.owner_id ?? 0))),
        empty: {
          icon: 'key',
          title: 'No applications',
          text: 'Register one to let it sign users in or call the API.',
        },
        paging: { query: {}, page: requestedPage, total },
      });
    },
  }),
  page({
    method: 'GET',
    path: `${path}/new`,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => newView(visit, unsent(blankApplication)),
  }),
  create,
  page({
    method: 'POST',
    path: `${path}/:id/delete`,
    audience: 'admin',
    params: object({ id: id() }),
    handle: async (visit, params) => {
      const { call } = visit;
      const application = await load(visit, params.id);
      await deleteApplication(call.platform.store, requireActor(call), call, application);
      return redirect(path, `${application.name} was deleted. Its tokens were revoked.`);
    },
  }),
];
