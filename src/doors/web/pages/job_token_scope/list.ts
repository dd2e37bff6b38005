/** The job token settings of a project: the switch, and the lists of projects and groups. */
import { maxAllowlistEntries } from '../../../../projects/job_token_scope/change.ts';
import { listedGroups, listedProjects } from '../../../../projects/job_token_scope/queries.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { checkbox, form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import type { View, Visit } from '../../page.ts';
import { button, projectPagePath, projectView } from '../../parts/frame/project_layout.ts';

export const scopePath = (project: Project): string => projectPagePath(project, 'job_token_scope');

/** The two lists, by the field of their forms. */
export type ListName = 'projects' | 'groups';

/** A refused form: its input and problems. */
export type Tried = { list: ListName; typed: string; problems: FormProblems };

/** A list at its limit, plus the project itself. */
const whole = { page: 1, per_page: maxAllowlistEntries + 1, limit: maxAllowlistEntries + 1, offset: 0 };

type Listed = { id: number; full_path: string };

type ListContext = { visit: Visit; project: Project; list: ListName };

const line = ({ visit, project, list }: ListContext, { id, full_path }: Listed): Html => {
  const isItself = list === 'projects' && id === project.id;
  const remove = button(visit, `${scopePath(project)}/${list}/${id}/delete`, {
    label: 'Remove',
    name: `Remove ${full_path}`,
    danger: true,
  });
  return html`<tr>
<th scope="row">${full_path}</th>
<td>${isItself ? html`<span class="quiet">This project</span>` : remove}</td>
</tr>
`;
};

const words = {
  projects: {
    title: 'Projects',
    field: 'target_project_id',
    label: 'Project',
    hint: 'Full path, such as group/project, or ID.',
    submit: 'Add project',
    none: '',
  },
  groups: {
    title: 'Groups',
    field: 'target_group_id',
    label: 'Group',
    hint: 'Full path or ID. Jobs of all projects below the group get access.',
    submit: 'Add group',
    none: 'No groups.',
  },
} as const;

/** Returns the field of a list's form. */
export const fieldOf = (list: ListName) => words[list].field;

const listPart = (context: ListContext, listed: readonly Listed[], tried: Tried | null): Html => {
  const { title, field, label, hint, submit, none } = words[context.list];
  const { typed, problems } = tried?.list === context.list ? tried : { typed: '', problems: noProblems };
  const rows = html`<div class="wide" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr><th scope="col">${label}</th><th scope="col">Actions</th></tr></thead>
<tbody>${listed.map((one) => line(context, one))}</tbody>
</table></div>`;
  return html`<h2>${title}</h2>
${listed.length === 0 ? html`<p class="quiet">${none}</p>` : rows}
${form(
  context.visit,
  { action: `${scopePath(context.project)}/${context.list}`, submit, problems },
  input({ name: field, label, hint, value: typed, required: true, problems }),
)}`;
};

const switchPart = (visit: Visit, project: Project): Html =>
  form(
    visit,
    { action: scopePath(project), submit: 'Save changes' },
    checkbox({
      name: 'enabled',
      label: 'Limit access to the projects and groups listed below',
      hint: 'Otherwise jobs of any project have access, with the rights of their users.',
      checked: project.job_token_list_enabled === 1,
    }),
  );

/** @param tried null: nothing was submitted */
export const scopeView = async (
  visit: Visit,
  project: Project,
  tried: Tried | null = null,
): Promise<View> => {
  const { call } = visit;
  const [projects, groups] = await Promise.all([
    listedProjects(call, project.id, whole),
    listedGroups(call, project.id, whole),
  ]);
  const content = html`<p>A running job has a token with the rights of its user. These projects and groups can access this project with job tokens. Entries that you cannot see are not shown.</p>
${switchPart(visit, project)}
${project.job_token_list_enabled === 0 && html`<p class="flash alert">Jobs of all projects have access: the lists below have no effect.</p>`}
${listPart({ visit, project, list: 'projects' }, projects.items, tried)}
${listPart({ visit, project, list: 'groups' }, groups.items, tried)}`;
  const view = projectView(visit, { project, title: 'Job tokens', noun: 'job_token_scope' }, content);
  return withFormStatus(view, tried?.problems ?? noProblems);
};
