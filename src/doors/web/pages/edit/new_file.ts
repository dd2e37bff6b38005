/** Creates a file: `/group/project/-/new/main/folder`. */
import { boolean, object, optional, text } from '../../../../platform/http/schema.ts';
import { stripLeadingSlashes } from '../../../../code/repository/files/paths.ts';
import { type View, type Visit, page } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { form } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitChange } from './commit_change.ts';
import { afterCommit, commitFields, proposeCommit, readCommitFields } from './commit_form.ts';
import { type EditTarget, findEditTarget, editParams, requireEditor, editorPage } from './edit_target.ts';
import { type FileFields, fileFields, fileParams, toContent, validateButton } from './file_form.ts';
import { insertTemplate, templateField } from './file_templates.ts';
import { previewButton, previewPart } from './preview_changes.ts';

const routePath = `${projectRoot}/new/:rest`;

/** Enter in a field activates the first button of a form, which would be the template button. */
const defaultButton = html`<button class="visually-hidden" tabindex="-1" aria-hidden="true">Commit changes</button>`;

type NewFileFormState = { fields: FileFields; problems?: FormProblems; template?: string; preview?: Html };

const newView = async (visit: Visit, target: EditTarget, state: NewFileFormState): Promise<View> => {
  const { fields, problems = noProblems, template, preview } = state;
  const { project, ref, path } = target;
  const options = {
    action: codePath(project, 'new', ref, path),
    submit: 'Commit changes',
    problems,
    other: html`${previewButton}${validateButton(target, fields)}`,
  };
  const templates = await templateField(template);
  const content = html`${preview}<section class="card"><div class="body">${form(visit, options, defaultButton, templates, fileFields(fields, problems), commitFields(target, fields, problems))}</div></section>`;
  const view = projectView(visit, { project, title: 'New file', noun: 'new' }, content);
  return withFormStatus(view, problems);
};

const show = editorPage('new', async (visit, target) => {
  const fields = {
    file_path: target.path === '' ? '' : `${target.path}/`,
    content: '',
    line_ends: 'lf' as const,
    ...(await proposeCommit(visit, target, 'Add a file')),
  };
  return await newView(visit, target, { fields });
});

const create = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({
    ...editParams,
    ...fileParams,
    template: optional(text({ maxLength: 200 })),
    insert_template: boolean({ default: false }),
  }),
  handle: async (
    visit,
    { project, rest, line_ends, file_path = '', content = '', template = '', ...sent },
  ) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const fields = {
      ...readCommitFields(sent),
      file_path: stripLeadingSlashes(file_path),
      content,
      line_ends,
    };
    if (sent.insert_template) {
      return await newView(visit, target, {
        fields: await insertTemplate(visit, target, fields, template),
        template,
      });
    }
    const fresh = toContent({ content, line_ends });
    if (sent.preview) {
      const texts = { path: fields.file_path, old: '', fresh: fresh.toString('utf8') };
      return await newView(visit, target, {
        fields,
        template,
        preview: await previewPart(visit, target, texts),
      });
    }
    const action = {
      action: 'create',
      file_path: fields.file_path,
      content: fresh,
    } as const;
    const { problems } = await commitChange(visit, target, fields, action);
    if (problems !== null) return await newView(visit, target, { fields, problems, template });
    const path = codePath(target.project, 'blob', fields.branch, fields.file_path);
    return await afterCommit(visit, target, fields, { path, notice: 'The file was created.' });
  },
});

export const newPages = [show, create];
