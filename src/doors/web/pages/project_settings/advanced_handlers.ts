/** Handlers that pack, archive, unlink, transfer and delete a project, by the operations of the API. */
import { unlinkFork } from '../../../../code/repository/forks/fork_relation.ts';
import { scheduleHousekeeping } from '../../../../code/repository/housekeeping.ts';
import type { ProjectAction } from '../../../../core/access/may.ts';
import { Failure, invalid } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { transferLabelsAndMilestones } from '../../../../projects/milestones/transfer_labels_and_milestones.ts';
import { type Project, findProject, findProjectFor } from '../../../../projects/projects/find.ts';
import { removeProject } from '../../../../projects/projects/removal/remove.ts';
import { transferProject } from '../../../../projects/projects/transfer.ts';
import { archiveProject } from '../../../../projects/projects/update.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage } from '../../parts/fields/form_page.ts';
import { type FormProblems, problemsOf } from '../../parts/form_problems.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { generalPage } from './general.ts';
import { settingsView } from './settings_section.ts';
import { trimSlashes } from '../../../../platform/trim.ts';

const routePath = `${projectRoot}/settings`;

const archiving = (word: 'archive' | 'unarchive', archived: 0 | 1, notice: string): AnyPage =>
  page({
    method: 'POST',
    path: `${routePath}/${word}`,
    audience: 'user',
    params: object(projectPath),
    handle: async ({ call }, { project: fullPath }) => {
      const project = await findProjectFor(call, fullPath, 'archive_project');
      await archiveProject(call, project, archived);
      return redirect(projectPagePath(project, 'settings'), notice);
    },
  });

const housekeeping = page({
  method: 'POST',
  path: `${routePath}/housekeeping`,
  audience: 'user',
  params: object(projectPath),
  handle: async ({ call }, { project: fullPath }) => {
    const project = await findProjectFor(call, fullPath, 'admin_project');
    await scheduleHousekeeping(call, project);
    return redirect(projectPagePath(project, 'settings'), 'Housekeeping was scheduled.');
  },
});

const unlink = page({
  method: 'POST',
  path: `${routePath}/remove_fork`,
  audience: 'user',
  params: object(projectPath),
  handle: async ({ call }, { project: fullPath }) => {
    const project = await findProjectFor(call, fullPath, 'remove_project');
    try {
      await unlinkFork(call, project);
    } catch (error) {
      // The form was sent twice.
      if (!(error instanceof Failure && error.kind === 'not_modified')) throw error;
    }
    return redirect(projectPagePath(project, 'settings'), 'The fork relationship was removed.');
  },
});

/** What the forms of the danger zone share. @param name their only field */
const dangerForm = (key: 'transfer' | 'delete', action: ProjectAction, name: string) => ({
  path: `${routePath}/${key}`,
  audience: 'user' as const,
  address: projectPath,
  find: async ({ call }: Visit, { project }: { project: string }) =>
    await findProjectFor(call, project, action),
  fromSent: (sent: RawParams): RawParams => readTexts(sent, [name]),
  toProblems: (problems: FormProblems) => moveUnknownToText(problems, [name]),
  view: async (visit: Visit, project: Project, { values: sent, problems }: FormState<RawParams>) =>
    await settingsView(generalPage, { visit, project, tried: { key, sent, problems } }),
});

const transfer = formPage({
  ...dangerForm('transfer', 'transfer_project', 'namespace'),
  fields: { namespace: optional(text({ maxLength: 1_000 })) },
  run: async ({ call }, project, { namespace = '' }) => {
    const target = trimSlashes(namespace.trim());
    if (target === '') throw invalid({ namespace: ["can't be blank"] });
    await transferProject(call, project, target, transferLabelsAndMilestones);
    const { full_path } = await findProject(call, project.id);
    return redirect(`/${full_path}`, `The project was transferred to ${target}.`);
  },
  // A hidden namespace counts as missing.
  readFailure: (error) =>
    error instanceof Failure && error.kind === 'not_found'
      ? { text: null, fields: { namespace: ['was not found'] } }
      : problemsOf(error),
});

const remove = formPage({
  ...dangerForm('delete', 'remove_project', 'confirm'),
  fields: { confirm: optional(text({ maxLength: 1_000 })) },
  run: async ({ call }, project, { confirm = '' }) => {
    if (confirm.trim() !== project.full_path)
      throw invalid({ confirm: ['Type the full path of the project'] });
    await removeProject(call, project);
    return redirect('/', `The project ${project.full_path} was deleted.`);
  },
});

export const advancedPages = [
  archiving('archive', 1, 'The project was archived.'),
  archiving('unarchive', 0, 'The project was unarchived.'),
  housekeeping,
  unlink,
  transfer,
  remove,
];
