/** The page of a project. */
import { may } from '../../../../core/access/may.ts';
import { findGroup } from '../../../../identity/groups/find.ts';
import { Failure } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { sshPrefix } from '../../../../projects/projects/ssh_url.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { projectPath, projectView } from '../../parts/project_view.ts';
import { type View, type Visit, type Redirect, page, redirect } from '../../page.ts';
import { projectRoot } from '../../places.ts';
import { dashedForm } from '../../request/project_paths.ts';

const isMissing = (error: unknown): boolean => error instanceof Failure && error.kind === 'not_found';

/** Returns where a path leads that names no visible project: a group, or a page that is served elsewhere. */
const otherPlace = async ({ call }: Visit, path: string): Promise<Redirect> => {
  const dashed = dashedForm(`/${path}`);
  if (dashed !== null) return redirect(dashed);
  const group = await findGroup(call, path);
  return redirect(`/groups/${group.full_path}`);
};

const address = (id: string, label: string, url: string): Html => html`<div class="field">
<label for="${id}">${label}</label>
<div class="copy"><input id="${id}" readonly value="${url}"><button type="button" data-copy="${url}" hidden aria-label="Copy the address">${icon('copy')}</button></div>
</div>
`;

/** Addresses to clone from. */
const clonePart = ({ call }: Visit, { full_path }: Project): Html => {
  const { config } = call.platform;
  const ssh = `${sshPrefix(call.baseUrl, config)}${full_path}.git`;
  const hasSsh = config.ssh_listen !== null || config.ssh_external !== null;
  return html`<section class="card"><header><h2>Clone</h2></header><div class="body">
${address('clone_http', 'HTTP', `${call.baseUrl}/${full_path}.git`)}${hasSsh && address('clone_ssh', 'SSH', ssh)}</div></section>`;
};

const projectPage = async (visit: Visit, path: string): Promise<View> => {
  const project = await findProject(visit.call, path);
  const canRead = may(visit.call.viewer, 'read_code', project);
  return projectView(
    visit,
    { project, title: project.name, noun: null },
    html`${(project.description ?? '') !== '' && html`<p class="lines">${project.description}</p>`}
${canRead && clonePart(visit, project)}`,
  );
};

export const pages = [
  page({
    method: 'GET',
    path: projectRoot,
    audience: 'visitor',
    params: object(projectPath),
    handle: async (visit, { project }) => {
      try {
        return await projectPage(visit, project);
      } catch (error) {
        if (!isMissing(error)) throw error;
        return await otherPlace(visit, project);
      }
    },
  }),
];
