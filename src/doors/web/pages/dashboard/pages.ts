import type { Static } from 'typebox';
import { may } from '../../../../core/access/may.ts';
import { pageParams, pageRequest } from '../../../../platform/http/page.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, projectsById } from '../../../../projects/projects/find.ts';
import { listProjects } from '../../../../projects/projects/lists/list.ts';
import { getIdeLink, toAsciiUrl } from '../../../../core/settings/setting_effects.ts';
import { type Html, html } from '../../parts/html.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { projectLink } from '../../parts/project_link.ts';

const params = object(pageParams);

type Shown = {
  id: number;
  web_url: string;
  path_with_namespace: string;
  name_with_namespace: string;
  description: string | null;
};

const pipelinesLink = (visit: Visit, shown: Shown, project: Project | undefined): Html | null => {
  if (project === undefined || !may(visit.call.viewer, 'read_pipeline', project)) return null;
  const label = `Pipelines of ${shown.name_with_namespace}`;
  return projectLink(visit, { project: project.full_path, page: '/-/pipelines', text: 'Pipelines', label });
};

const row = (visit: Visit, shown: Shown, project: Project | undefined): Html => {
  const { path_with_namespace, name_with_namespace, description, web_url } = shown;
  const ide = getIdeLink(visit.call.settings, web_url);
  return html`
<li>${projectLink(visit, { project: path_with_namespace, page: '', text: name_with_namespace }) ?? name_with_namespace}${
    ide !== null && html` <a href="${ide}">Open in the IDE</a>`
  } ${pipelinesLink(visit, shown, project)}${(description ?? '') !== '' && html`<br><span class="quiet">${description}</span>`}</li>`;
};

const dashboard = async (visit: Visit, given: Static<typeof params>): Promise<View> => {
  const { page, per_page } = pageRequest(given);
  const order = { order_by: 'last_activity_at', sort: 'desc' } as const;
  const wanted = { membership: true, simple: true, ...order, page, per_page };
  const { items, total } = await listProjects(visit.call, wanted);
  const shown = items as Shown[];
  const projects = await projectsById(
    visit.call.db,
    shown.map(({ id }) => id),
  );
  const isMore = page * per_page < total;
  const link = (number: number, text: string): Html => html`<a href="/?page=${number}">${text}</a> `;
  const body = html`<h1>Projects</h1>
${
  total === 0
    ? html`<p>You are in no project yet.</p>`
    : html`<p class="quiet">${total === 1 ? '1 project' : `${total} projects`}</p>
<ul class="list">${shown.map((one) => row(visit, one, projects.get(one.id)))}</ul>`
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
      return redirect(toAsciiUrl(settings.home_page_url) ?? '/users/sign_in');
    },
  }),
];
