/** Deletes a file: `/group/project/-/delete/main/README.md`. */
import { findFile } from '../../../../code/repository/files/find_file.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, withRefusal } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitChange } from './commit_change.ts';
import {
  type CommitFields,
  afterCommit,
  commitFields,
  commitParams,
  proposeCommit,
  readCommitFields,
} from './commit_form.ts';
import {
  type EditTarget,
  findEditTarget,
  isCommitId,
  editParams,
  requireEditor,
  editorPage,
} from './edit_target.ts';

const routePath = `${projectRoot}/delete/:rest`;

type DeleteFormState = { fields: CommitFields; last: string; problems?: FormProblems; isOutdated?: boolean };

const deleteView = (visit: Visit, target: EditTarget, state: DeleteFormState): View => {
  const { fields, last, problems = noProblems, isOutdated = false } = state;
  const { project, ref, path } = target;
  const options = {
    action: codePath(project, 'delete', ref, path),
    submit: 'Delete file',
    danger: true,
    problems,
  };
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    options,
    hidden('last_commit_id', last),
    commitFields(target, fields, problems),
  )}</div></section>`;
  const view = projectView(visit, { project, title: `Delete ${path}`, noun: 'delete' }, content);
  return isOutdated ? { ...view, status: 409 } : withRefusal(view, problems !== noProblems);
};

const loadLastCommit = async ({ code, path, commit, ref }: EditTarget): Promise<string> =>
  (await findFile(code, { file_path: path, ref: commit ?? ref }, 0)).file.last_commit_id;

const show = editorPage('delete', async (visit, target) => {
  const last = await loadLastCommit(target);
  const name = target.path.slice(target.path.lastIndexOf('/') + 1);
  const fields = await proposeCommit(visit, target, `Delete ${name}`);
  return deleteView(visit, target, { fields, last });
});

const remove = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({ ...editParams, ...commitParams, last_commit_id: optional(text({ maxLength: 64 })) }),
  handle: async (visit, { project, rest, last_commit_id = '', ...commit }) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const fields = readCommitFields(commit);
    const { problems, isOutdated } = await commitChange(visit, target, fields, {
      action: 'delete',
      file_path: target.path,
      ...(isCommitId(last_commit_id) && { last_commit_id }),
    });
    // The page that is shown again has the newer commit: who submits it has seen the warning.
    const last = isOutdated ? await loadLastCommit(target) : last_commit_id;
    if (problems !== null) return deleteView(visit, target, { fields, last, problems, isOutdated });
    const path = codePath(target.project, 'tree', fields.branch);
    return await afterCommit(visit, target, fields, { path, notice: `The file ${target.path} was deleted.` });
  },
});

export const deletePages = [show, remove];
