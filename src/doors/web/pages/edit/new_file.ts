/** Creates a file: `/group/project/-/new/main/folder`. */
import { object } from '../../../../platform/http/schema.ts';
import { stripLeadingSlashes } from '../../../../code/repository/files/paths.ts';
import { type View, type Visit, page } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type FormProblems, form, noProblems, withFormStatus } from '../../parts/form.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitChange } from './commit_change.ts';
import { afterCommit, commitFields, proposeCommit, readCommitFields } from './commit_form.ts';
import { type EditTarget, findEditTarget, editParams, requireEditor, formPage } from './edit_target.ts';
import { type FileFields, fileFields, fileParams, toContent } from './file_form.ts';

const routePath = `${projectRoot}/new/:rest`;

const newView = (
  visit: Visit,
  target: EditTarget,
  fields: FileFields,
  problems: FormProblems = noProblems,
): View => {
  const { project, ref, path } = target;
  const given = { action: codePath(project, 'new', ref, path), submit: 'Commit changes', problems };
  const content = html`<section class="card"><div class="body">${form(visit, given, fileFields(fields, problems), commitFields(target, fields, problems))}</div></section>`;
  const view = projectView(visit, { project, title: 'New file', noun: 'new' }, content);
  return withFormStatus(view, problems);
};

const show = formPage('new', async (visit, target) => {
  return newView(visit, target, {
    file_path: target.path === '' ? '' : `${target.path}/`,
    content: '',
    line_ends: 'lf',
    ...(await proposeCommit(visit, target, 'Add a file')),
  });
});

const create = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({ ...editParams, ...fileParams }),
  handle: async (visit, { project, rest, line_ends, file_path = '', content = '', ...commit }) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const fields = {
      ...readCommitFields(commit),
      file_path: stripLeadingSlashes(file_path),
      content,
      line_ends,
    };
    const action = {
      action: 'create',
      file_path: fields.file_path,
      content: toContent({ content, line_ends }),
    } as const;
    const { problems } = await commitChange(visit, target, fields, action);
    if (problems !== null) return newView(visit, target, fields, problems);
    const path = codePath(target.project, 'blob', fields.branch, fields.file_path);
    return await afterCommit(visit, target, fields, { path, notice: 'The file was created.' });
  },
});

export const newPages = [show, create];
