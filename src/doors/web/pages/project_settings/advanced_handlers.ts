/** Handlers that archive, transfer and delete a project, by the operations of the API. */
import { Failure } from '../../../../platform/errors.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { transferLabelsAndMilestones } from '../../../../projects/milestones/transfer_labels_and_milestones.ts';
import { type Project, findProject, findProjectFor } from '../../../../projects/projects/find.ts';
import { removeProject } from '../../../../projects/projects/removal/remove.ts';
import { transferProject } from '../../../../projects/projects/transfer.ts';
import { archiveProject } from '../../../../projects/projects/update.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
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

type Refused = { visit: Visit; project: Project; sent: Record<string, string>; problems: FormProblems };

const refuse = async (
  key: 'transfer' | 'delete',
  { visit, project, sent, problems }: Refused,
): Promise<View> => {
  const tried = { key, sent, problems: moveUnknownToText(problems, Object.keys(sent)) };
  return await settingsView(generalPage, { visit, project, tried });
};

/** A hidden namespace counts as missing. */
const attemptTransfer = async (
  { call }: Visit,
  project: Project,
  namespace: string,
): Promise<FormProblems | null> => {
  const wrong = (problem: string): FormProblems => ({ text: null, fields: { namespace: [problem] } });
  if (namespace === '') return wrong("can't be blank");
  try {
    return await attempt(
      async () => await transferProject(call, project, namespace, transferLabelsAndMilestones),
    );
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    return wrong('was not found');
  }
};

const transfer = page({
  method: 'POST',
  path: `${routePath}/transfer`,
  audience: 'user',
  params: object({ ...projectPath, namespace: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { project: fullPath, namespace = '' }) => {
    const { call } = visit;
    const project = await findProjectFor(call, fullPath, 'transfer_project');
    const target = trimSlashes(namespace.trim());
    const problems = await attemptTransfer(visit, project, target);
    if (problems !== null) return await refuse('transfer', { visit, project, sent: { namespace }, problems });
    const { full_path } = await findProject(call, project.id);
    return redirect(`/${full_path}`, `The project was transferred to ${target}.`);
  },
});

const remove = page({
  method: 'POST',
  path: `${routePath}/delete`,
  audience: 'user',
  params: object({ ...projectPath, confirm: optional(text({ maxLength: 1_000 })) }),
  handle: async (visit, { project: fullPath, confirm = '' }) => {
    const project = await findProjectFor(visit.call, fullPath, 'remove_project');
    if (confirm.trim() !== project.full_path) {
      const problems = { text: null, fields: { confirm: ['Type the full path of the project'] } };
      return await refuse('delete', { visit, project, sent: { confirm }, problems });
    }
    await removeProject(visit.call, project);
    return redirect('/', `The project ${project.full_path} was deleted.`);
  },
});

export const advancedPages = [
  archiving('archive', 1, 'The project was archived.'),
  archiving('unarchive', 0, 'The project was unarchived.'),
  transfer,
  remove,
];
