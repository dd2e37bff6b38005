import type { Static } from 'typebox';
import { pageParams, pageRequest } from '../../../http/page.ts';
import { object } from '../../../http/schema.ts';
import { listProjects } from '../../../projects/list.ts';
import { ideLink, plainAddress } from '../../../settings/governed.ts';
import { type Html, html } from '../../html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';

const params = object(pageParams);

type Shown = {
  web_url: string;
  path_with_namespace: string;
  name_with_namespace: string;
  description: string | null;
};

const row = (visit: Visit, project: Shown): Html => {
  const { path_with_namespace, name_with_namespace, description, web_url } = project;
  const ide = ideLink(visit.call.settings, web_url);
  return html`
<li><a href="/${path_with_namespace}">${name_with_namespace}</a>${
    ide !== null && html` <a href="${ide}">Open in the IDE</a>`
  } <a href="/${path_with_namespace}/-/pipelines" aria-label="Pipelines of ${name_with_namespace}">Pipelines</a>${(description ?? '') !== '' && html`<br><span class="quiet">${description}</span>`}</li>`;
};

const dashboard = async (visit: Visit, given: Static<typeof params>): Promise<View> => {
  const { page, per_page } = pageRequest(given);
  const order = { order_by: 'last_activity_at', sort: 'desc' } as const;
  const wanted = { membership: true, simple: true, ...order, page, per_page };
  const { items, total } = await listProjects(visit.call, wanted);
  const isMore = page * per_page < total;
  const link = (number: number, text: string): Html => html`<a href="/?page=${number}">${text}</a> `;
  const body = html`<h1>Projects</h1>
${
  total === 0
    ? html`<p>You are in no project yet.</p>`
    : html`<p class="quiet">${total === 1 ? '1 project' : `${total} projects`}</p>
<ul class="list">${(items as Shown[]).map((one) => row(visit, one))}</ul>`
}
${(page > 1 || isMore) && html`<nav aria-label="Pages"><p>${page > 1 && link(page - 1, 'Previous')}${isMore && link(page + 1, 'Next')}</p></nav>`}`;
  return { title: 'Projects', body };
};

export const pages = [
  page({
    method: 'GET',
    path: '/',
    audience: 'anyone',
    params,
    handle: async (visit, given) => {
      const { signedIn, settings } = visit.call;
      if (signedIn) return await dashboard(visit, given);
      return redirect(plainAddress(settings.home_page_url) ?? '/users/sign_in');
    },
  }),
];
