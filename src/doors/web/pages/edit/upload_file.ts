/**
 * Uploads files of any content into a folder, or one in place of a file: `/group/project/-/upload/main/images`.
 */
import { loadFile } from '../../../../code/repository/files/find_file.ts';
import { maxCommitBytes } from '../../../../code/repository/limits.ts';
import { formatBytes } from '../../../../platform/format_bytes.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type SentFile, type View, type Visit, page, withRefusal } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { fileInput, form, hidden, input } from '../../parts/form.ts';
import { type FormProblems, noProblems } from '../../parts/form_problems.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type CommitResult, commitChange } from './commit_change.ts';
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
  isCommitId,
  editParams,
  requireEditor,
  editorPage,
} from './edit_target.ts';

const routePath = `${projectRoot}/upload/:rest`;

type Fields = CommitFields & {
  /** Where a new file goes. */
  folder: string;
  /** Last commit of the file to replace; null if a new file is uploaded. */
  last: string | null;
};

const maxName = 255;

/** Returns the last commit of the file that an upload would replace; null if the place is a folder, or free. */
const findReplaced = async ({ code, commit, path, ref }: EditTarget): Promise<string | null> => {
  if (commit === null || path === '') return null;
  return (await loadFile(code, { commit, path, ref }, 0))?.file.last_commit_id ?? null;
};

/** Files of one commit. */
const maxFiles = 20;

const uploadView = (
  visit: Visit,
  target: EditTarget,
  fields: Fields,
  { problems, isOutdated }: CommitResult = { problems: null, isOutdated: false },
): View => {
  const { project, ref, path } = target;
  const { last, folder } = fields;
  const shown = problems ?? noProblems;
  const title = last === null ? 'Upload files' : `Replace ${path}`;
  const content = html`<section class="card form-page"><div class="body">${form(
    visit,
    { action: codePath(project, 'upload', ref, path), submit: title, hasFiles: true, problems: shown },
    fileInput({
      name: 'file',
      label: last === null ? 'Files' : 'File',
      required: true,
      isMultiple: last === null,
      ...(last === null && {
        hint: `Up to ${maxFiles} files and ${formatBytes(maxCommitBytes)} together, in one commit.`,
      }),
      problems: shown,
    }),
    last !== null
      ? hidden('last_commit_id', last)
      : input({
          name: 'folder',
          label: 'Folder',
          hint: 'From the root of the repository; empty for the root.',
          value: folder,
          problems: shown,
        }),
    commitFields(target, fields, shown),
  )}</div></section>`;
  const view = projectView(visit, { project, title, noun: 'upload' }, content);
  return isOutdated ? { ...view, status: 409 } : withRefusal(view, problems !== null);
};

const show = editorPage('upload', async (visit, target) => {
  const last = await findReplaced(target);
  const name = target.path.slice(target.path.lastIndexOf('/') + 1);
  const commit = await proposeCommit(visit, target, last === null ? 'Upload files' : `Replace ${name}`);
  return uploadView(visit, target, { ...commit, last, folder: last === null ? target.path : '' });
});

/** Returns the name of a file without the folders that some browsers send. */
const baseName = ({ name }: SentFile): string =>
  name
    .slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
    .slice(0, maxName)
    .toWellFormed();

/** Names the field of the form, where a message is about the path. */
const atFile = ({ text: said, fields }: FormProblems): FormProblems => {
  const { file_path: wrong, ...others } = fields;
  return { text: said, fields: wrong === undefined ? fields : { ...others, file: wrong } };
};

const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);

/** Redirects to the file, or to the folder of several files. */
const whereTo = (
  { project }: EditTarget,
  { branch, folder }: Fields,
  actions: readonly { file_path: string }[],
): { path: string; notice: string } =>
  actions.length === 1
    ? { path: codePath(project, 'blob', branch, actions[0]?.file_path), notice: 'The file was uploaded.' }
    : { path: codePath(project, 'tree', branch, folder), notice: `${actions.length} files were uploaded.` };

const upload = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({
    ...editParams,
    ...commitParams,
    folder: optional(text({ maxLength: 4_000 })),
    last_commit_id: optional(text({ maxLength: 64 })),
  }),
  handle: async (visit, { project, rest, folder: sent = '', last_commit_id = '', ...commit }) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const last = isCommitId(last_commit_id) ? last_commit_id : null;
    const folder = cleanFolder(sent);
    const fields = { ...readCommitFields(commit), folder, last };
    const files = last === null ? visit.sentFiles('file') : visit.sentFiles('file').slice(0, 1);
    if (files.length === 0 || files.length > maxFiles) {
      const problem =
        files.length === 0
          ? "can't be blank"
          : `You chose ${files.length} files; at most ${maxFiles} can be uploaded together`;
      const problems = { text: null, fields: { file: [problem] } };
      return uploadView(visit, target, fields, { problems, isOutdated: false });
    }
    const actions = files.map((file) => ({
      action: last === null ? ('create' as const) : ('update' as const),
      file_path: last === null ? joinPath(folder, baseName(file)) : target.path,
      content: file.content,
      ...(last !== null && { last_commit_id: last }),
    }));
    const { problems, isOutdated } = await commitChange(visit, target, fields, ...actions);
    if (problems !== null) {
      // The page that is shown again has the newer commit: who submits it has seen the warning.
      const newer = isOutdated ? await findReplaced(await findEditTarget(visit, { project, rest })) : last;
      return uploadView(
        visit,
        target,
        { ...fields, last: newer },
        { problems: atFile(problems), isOutdated },
      );
    }
    return await afterCommit(visit, target, fields, whereTo(target, fields, actions));
  },
});

export const uploadPages = [show, upload];
