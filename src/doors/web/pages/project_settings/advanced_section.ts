/** Forms that pack, archive, unlink, transfer or delete a project. */
import { may } from '../../../../core/access/may.ts';
import { canSeeProject } from '../../../../core/access/visible.ts';
import { listCreationNamespaces } from '../../../../projects/projects/lists/creation_namespaces.ts';
import { type Project, loadProject } from '../../../../projects/projects/find.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import type { Visit } from '../../page.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type SettingsContext, refusal, sectionCard } from './settings_section.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

/** Namespaces that the transfer form proposes; others can be typed. */
const maxSuggestions = 100;

const archivePart = (visit: Visit, project: Project): Html => {
  const path = projectPagePath(project, 'settings');
  if (project.archived === 1) {
    return html`<section class="stack"><h3>Unarchive project</h3>
<p>People can push, open issues and run pipelines again.</p>
${form(visit, { action: `${path}/unarchive`, submit: 'Unarchive project' })}</section>
`;
  }
  return html`<section class="stack"><h3>Archive project</h3>
<p>The project becomes read-only: nobody can push, and no pipelines run. You can unarchive it at any time.</p>
${form(visit, { action: `${path}/archive`, submit: 'Archive project', danger: true })}</section>
`;
};

/** Packing keeps everything that can be reached, so it is no danger. */
const housekeepingPart = (visit: Visit, project: Project): Html =>
  sectionCard(
    { key: 'housekeeping', title: 'Housekeeping' },
    html`<p>Packs the repository and removes what no branch or tag reaches. It happens by itself when it is due; run it after removing large files from the history.</p>
${form(visit, { action: `${projectPagePath(project, 'settings')}/housekeeping`, submit: 'Run housekeeping', isQuiet: true })}`,
  );

const unlinkPart = async (visit: Visit, project: Project): Promise<Html | null> => {
  const { forked_from_project_id: id } = project;
  if (id === null) return null;
  const source = await loadProject(visit.call.db, id);
  const isShown = source !== null && canSeeProject(visit.call.viewer, source);
  const name = isShown ? html`<a href="/${source.full_path}">${source.full_path}</a>` : 'another project';
  return html`<section class="stack"><h3>Remove fork relationship</h3>
<p>The project is a fork of ${name}. Without the relationship it cannot send merge requests there or be updated from there. Forks of this project stay linked to it.</p>
${form(visit, { action: `${projectPagePath(project, 'settings')}/remove_fork`, submit: 'Remove fork relationship', danger: true })}</section>
`;
};

type Refused = { problems: FormProblems; typed: (name: string) => string };

const refusedAs = ({ tried }: SettingsContext, key: string): Refused => {
  const refused = tried?.key === key ? tried : null;
  return { problems: refused?.problems ?? noProblems, typed: (name) => fieldText(refused?.sent[name]) };
};

const transferPart = async (context: SettingsContext): Promise<Html> => {
  const { visit, project } = context;
  const { problems, typed } = refusedAs(context, 'transfer');
  const namespaces = await listCreationNamespaces(visit.call, maxSuggestions);
  const field = input({
    name: 'namespace',
    label: 'New namespace',
    hint: 'Path of a group, or your user name.',
    value: typed('namespace'),
    required: true,
    suggestions: namespaces.filter(({ id }) => id !== project.namespace_id).map((one) => one.full_path),
    problems,
  });
  const action = `${projectPagePath(project, 'settings')}/transfer`;
  return html`<section class="stack" id="transfer_section"><h3>Transfer project</h3>
<p>Moves the project with everything in it.</p>
<ul class="bulleted"><li>Old URLs redirect to the new URLs.</li>
<li>Members of the old group lose access; members of the new one gain it.</li>
<li>Visibility is reduced to the visibility of the new group if that is lower.</li></ul>
${form(visit, { action, submit: 'Transfer project', danger: true, problems }, field)}</section>
`;
};

const deletePart = (context: SettingsContext): Html => {
  const { visit, project } = context;
  const { problems } = refusedAs(context, 'delete');
  const field = input({
    name: 'confirm',
    label: `Type ${project.full_path} to confirm`,
    autocomplete: 'off',
    required: true,
    problems,
  });
  const action = `${projectPagePath(project, 'settings')}/delete`;
  return html`<section class="stack" id="delete_section"><h3>Delete project</h3>
<p>Deletes the repository, issues, merge requests, pipelines and files of the project, for everyone. <strong>This cannot be undone.</strong></p>
${form(visit, { action, submit: 'Delete project', danger: true, problems }, field)}</section>
`;
};

/** Renders the forms that the visitor may use. */
export const advancedPart = async (context: SettingsContext): Promise<Html> => {
  const { visit, project, tried } = context;
  const { viewer } = visit.call;
  const parts = [
    may(viewer, 'archive_project', project) ? archivePart(visit, project) : null,
    may(viewer, 'remove_project', project) ? await unlinkPart(visit, project) : null,
    may(viewer, 'transfer_project', project) ? await transferPart(context) : null,
    may(viewer, 'remove_project', project) ? deletePart(context) : null,
  ].filter((part) => part !== null);
  const housekeeping = housekeepingPart(visit, project);
  if (parts.length === 0) return housekeeping;
  const refused = tried?.key === 'transfer' || tried?.key === 'delete' ? tried.key : null;
  const card = sectionCard(
    { key: 'advanced', title: 'Danger zone', isDanger: true },
    html`<div class="stack parted">${parts}</div>`,
  );
  return refused === null
    ? html`${housekeeping}${card}`
    : html`${refusal(refused, refused === 'transfer' ? 'Transfer project' : 'Delete project')}${housekeeping}${card}`;
};
