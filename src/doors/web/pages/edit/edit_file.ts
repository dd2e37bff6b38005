/** Edits or moves a file: `/group/project/-/edit/main/README.md`. A binary file can only be moved. */
import { notFound, nullIfMissing } from '../../../../platform/errors.ts';
import { isUtf8 } from 'node:buffer';
import type { FileAction } from '../../../../code/repository/commits/file_actions.ts';
import { stripLeadingSlashes } from '../../../../code/repository/files/paths.ts';
import { type LoadedFile, findFile } from '../../../../code/repository/files/find_file.ts';
import { maxBytesInMemory } from '../../../../code/repository/limits.ts';
import { formatBytes } from '../../../../platform/format_bytes.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { checkbox, form, hidden } from '../../parts/form.ts';
import { type FormProblems, noProblems, withFormStatus } from '../../parts/form_problems.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitChange } from './commit_change.ts';
import { afterCommit, commitFields, proposeCommit, readCommitFields } from './commit_form.ts';
import {
  type EditTarget,
  findEditTarget,
  isCommitId,
  editParams,
  requireEditor,
  editorPage,
} from './edit_target.ts';
import { type FileFields, fileFields, fileParams, toContent, validateButton } from './file_form.ts';
import { previewButton, previewPart } from './preview_changes.ts';

const routePath = `${projectRoot}/edit/:rest`;

const loadFile = async ({ code, path, commit, ref }: EditTarget): Promise<LoadedFile> =>
  await findFile(code, { file_path: path, ref: commit ?? ref }, maxBytesInMemory);

/** Returns the text of a file; null if it is binary, or too large for a form. */
const readText = ({ content }: LoadedFile): string | null =>
  content === null || content.includes(0) || !isUtf8(content) ? null : content.toString('utf8');

/** Placeholder for the last commit in a form that creates a deleted file again. */
const noCommit = 'none';

type EditFormState = {
  fields: FileFields;
  /** Last commit of the file that the user has seen; `none`: they have seen that it was deleted. */
  last: string;
  problems?: FormProblems;
  /** Last commit of the file, where it is newer. */
  newer?: string;
  /** Shown before the form. */
  preview?: Html;
};

/** Renders the choice to overwrite a file that another user has changed meanwhile. */
const overwriteField = ({ project, ref, path }: EditTarget, newer: string): Html =>
  html`<p class="flash alert" role="alert">Somebody changed the file after you opened it. Your text is kept below. <a href="${codePath(project, 'blob', ref, path)}">View the newer version</a></p>${checkbox(
    { name: 'overwrite', value: newer, label: 'Replace the newer version with this text', checked: false },
  )}`;

/** Says that the file is missing. The next commit of the form creates it. */
const deletedNote = html`<p class="flash alert" role="alert">The file was deleted after you opened it. Your text is kept below. Commit it to create the file again.</p>`;

/** Says why a file has no field for its content. */
const unreadableNote = ({ project, ref, path }: EditTarget): Html =>
  html`<p>The file is binary or larger than ${formatBytes(maxBytesInMemory)}: here it can be moved, but not edited. <a href="${codePath(project, 'upload', ref, path)}">Upload another version</a></p>`;

const editView = (visit: Visit, target: EditTarget, state: EditFormState): View => {
  const { fields, last, problems = noProblems, newer, preview } = state;
  const { project, ref, path } = target;
  const shown = newer === undefined ? problems : noProblems;
  const content = html`${preview}<section class="card"><div class="body">${form(
    visit,
    {
      action: codePath(project, 'edit', ref, path),
      submit: 'Commit changes',
      problems: shown,
      other: html`${fields.content !== null && previewButton}${validateButton(target, { ...fields, file_path: path })}`,
    },
    newer === undefined ? null : overwriteField(target, newer),
    last === noCommit ? deletedNote : null,
    fields.content === null ? unreadableNote(target) : null,
    fileFields(fields, shown),
    hidden('last_commit_id', last),
    commitFields(target, fields, shown),
  )}</div></section>
<p><a href="${codePath(project, 'upload', ref, path)}">Replace this file</a> · <a href="${codePath(project, 'delete', ref, path)}">Delete this file</a></p>`;
  const view = projectView(visit, { project, title: `Edit ${path}`, noun: 'edit' }, content);
  if (newer !== undefined) return { ...view, status: 409 };
  return withFormStatus(view, problems);
};

const show = editorPage('edit', async (visit, target) => {
  const loaded = await loadFile(target);
  const content = readText(loaded);
  const fields = {
    file_path: target.path,
    content,
    line_ends: /^[^\n]*\r\n/.test(content ?? '') ? ('crlf' as const) : ('lf' as const),
    ...(await proposeCommit(visit, target, `Update ${loaded.file.file_name}`)),
  };
  return editView(visit, target, { fields, last: loaded.file.last_commit_id });
});

const commitId = optional(text({ maxLength: 64 }));

/** Returns the change that a form describes. Without content, the content of the file is unchanged. */
const toAction = (
  { path }: EditTarget,
  { file_path, content, line_ends }: FileFields,
  last: string,
): FileAction => {
  if (last === noCommit && content !== null)
    return { action: 'create', file_path, content: toContent({ content, line_ends }) };
  const isMoved = file_path !== path;
  return {
    action: isMoved || content === null ? 'move' : 'update',
    file_path,
    ...((isMoved || content === null) && { previous_path: path }),
    ...(content !== null && { content: toContent({ content, line_ends }) }),
  };
};

/** Loads the file; null if it was deleted after the form was opened. */
const loadCurrent = async (target: EditTarget): Promise<LoadedFile | null> => {
  return await nullIfMissing(loadFile(target));
};

/** Returns the text of the file; empty for one that was deleted. */
const readCurrent = async (target: EditTarget): Promise<string> => {
  const loaded = await loadCurrent(target);
  return (loaded && readText(loaded)) ?? '';
};

/** Shows the form with what was typed where the file changed, or was deleted, after it was opened. */
const showOutdated = async (
  visit: Visit,
  target: EditTarget,
  { fields, last }: { fields: FileFields; last: string },
): Promise<View> => {
  const current = await loadCurrent(target);
  if (current !== null) return editView(visit, target, { fields, last, newer: current.file.last_commit_id });
  if (fields.content === null) throw notFound('File');
  return { ...editView(visit, target, { fields, last: noCommit }), status: 409 };
};

/** Compares the text of a form with the file. */
const showChanges = async (
  visit: Visit,
  target: EditTarget,
  { content, line_ends, file_path }: FileFields & { content: string },
): Promise<Html> =>
  await previewPart(visit, target, {
    path: file_path,
    old: await readCurrent(target),
    fresh: toContent({ content, line_ends }).toString('utf8'),
  });

const update = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({ ...editParams, ...fileParams, last_commit_id: commitId, overwrite: commitId }),
  handle: async (visit, { project, rest, line_ends, ...sent }) => {
    const target = await findEditTarget(visit, { project, rest });
    requireEditor(visit, target);
    const { file_path = '', content = null, last_commit_id = '' } = sent;
    const fields = {
      ...readCommitFields(sent),
      file_path: stripLeadingSlashes(file_path),
      content,
      line_ends,
    };
    if (sent.preview && content !== null) {
      const preview = await showChanges(visit, target, { ...fields, content });
      const newer = [sent.overwrite ?? ''].find(isCommitId);
      return editView(visit, target, {
        fields,
        last: last_commit_id,
        preview,
        ...(newer !== undefined && { newer }),
      });
    }
    const seen = [sent.overwrite ?? '', last_commit_id].find(isCommitId);
    const { problems, isOutdated } = await commitChange(visit, target, fields, {
      ...toAction(target, fields, last_commit_id),
      ...(seen !== undefined && { last_commit_id: seen }),
    });
    const last = last_commit_id;
    if (isOutdated) {
      return await showOutdated(visit, await findEditTarget(visit, { project, rest }), { fields, last });
    }
    if (problems !== null) return editView(visit, target, { fields, last, problems });
    const path = codePath(target.project, 'blob', fields.branch, fields.file_path);
    return await afterCommit(visit, target, fields, { path, notice: 'The file was saved.' });
  },
});

export const editPages = [show, update];
