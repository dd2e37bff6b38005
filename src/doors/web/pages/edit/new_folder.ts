/** Creates a folder, which git keeps by a file in it: `/group/project/-/new_folder/main/src`. */
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { form, input } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
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
  cleanFolder,
  findEditTarget,
  editParams,
  requireEditor,
  editorPage,
} from './edit_target.ts';

const routePath = `${projectRoot}/new_folder/:rest`;

const keptFile = '.gitkeep';

type Fields = CommitFields & { folder: string };

const folderView = (
  visit: Visit,
  target: EditTarget,
  fields: Fields,
  problems: FormProblems = noProblems,
): View => {
  const { project, ref, path } = target;
  const formOptions = {
    action: codePath(project, 'new_folder', ref, path),
    submit: 'Create folder',
    problems,
  };
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    formOptions,
    input({
      name: 'folder',
      label: 'Folder',
      hint: `From the root of the repository. An empty file ${keptFile} keeps it: git has no empty folders.`,
      value: fields.folder,
      required: true,
      problems,
    }),
    commitFields(target, fields, problems),
  )}</div></section>`;
  const view = projectView(visit, { project, title: 'New folder', noun: 'new_folder' }, content);
  return withFormStatus(view, problems);
};

/** Names the field of the form, where a message is about the path of the kept file. */
const atFolder = ({ text: said, fields }: FormProblems): FormProblems => {
  const { file_path: wrong, ...others } = fields;
  if (wrong === undefined) return { text: said, fields };
  const isTaken = wrong.some((message) => /already exists/.test(message));
  return { text: said, fields: { ...others, folder: isTaken ? ['already exists'] : wrong } };
};

const show = editorPage('new_folder', async (visit, target) => {
  const commit = await proposeCommit(visit, target, 'Add a folder');
  return folderView(visit, target, { ...commit, folder: target.path === '' ? '' : `${target.path}/` });
});

const create = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({ ...editParams, ...commitParams, folder: optional(text({ maxLength: 4_000 })) }),
  handle: async (visit, { project, rest, folder: sent = '', ...commit }) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const folder = cleanFolder(sent);
    const fields = { ...readCommitFields(commit), folder };
    if (folder === '') {
      return folderView(visit, target, fields, { text: null, fields: { folder: ["can't be blank"] } });
    }
    const action = {
      action: 'create',
      file_path: `${folder}/${keptFile}`,
      content: Buffer.alloc(0),
    } as const;
    const { problems } = await commitChange(visit, target, fields, action);
    if (problems !== null) return folderView(visit, target, fields, atFolder(problems));
    const path = codePath(target.project, 'tree', fields.branch, folder);
    return await afterCommit(visit, target, fields, { path, notice: 'The folder was created.' });
  },
});

export const folderPages = [show, create];
