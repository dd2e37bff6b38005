/** Edits or moves a text file: `/group/project/-/edit/main/README.md`. */
import { isUtf8 } from 'node:buffer';
import { cleanPath } from '../../../../code/repository/commits/file_actions.ts';
import { type LoadedFile, findFile } from '../../../../code/repository/files/find_file.ts';
import { maxBytesInMemory } from '../../../../code/repository/limits.ts';
import { object, optional, text } from '../../../../platform/http/schema.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type FormProblems, checkbox, form, hidden, noProblems } from '../../parts/form.ts';
import { projectView } from '../../parts/frame/project_view.ts';
import { type Html, html } from '../../parts/html.ts';
import { projectRoot } from '../../places.ts';
import {
  type EditPlace,
  commitChange,
  commitFields,
  findEditPlace,
  mayEdit,
  placeParams,
  proposeBranch,
  refusedView,
  requireEditor,
} from './commit_form.ts';
import { type FileFields, fileFields, fileParams, toContent } from './file_form.ts';

const served = `${projectRoot}/edit/:rest`;

const loadFile = async ({ code, path, commit, ref }: EditPlace): Promise<LoadedFile> =>
  await findFile(code, { file_path: path, ref: commit ?? ref }, maxBytesInMemory);

/** Returns the text of a file; null: it is binary, or too large for a form. */
const readText = ({ content }: LoadedFile): string | null =>
  content === null || content.includes(0) || !isUtf8(content) ? null : content.toString('utf8');

const uneditableView = (visit: Visit, { project, ref, path }: EditPlace): View =>
  projectView(
    visit,
    { project, title: `Edit ${path}`, noun: 'edit' },
    html`<section class="card">${emptyState({
      icon: 'file',
      title: 'This file cannot be edited here',
      text: 'It is binary or larger than 1 MB. Clone the repository to change it.',
      action: html`<a class="button" href="${codePath(project, 'blob', ref, path)}">View the file</a>`,
    })}</section>`,
  );

type Given = {
  fields: FileFields;
  /** Last commit of the file that the user has seen. */
  last: string;
  problems?: FormProblems;
  /** Last commit of the file, where it is newer. */
  newer?: string;
};

/** Renders the choice after somebody else changed the file. */
const overwriteField = ({ project, ref, path }: EditPlace, newer: string): Html =>
  html`<p class="flash alert" role="alert">Somebody changed the file after you opened it. Your text is kept below. <a href="${codePath(project, 'blob', ref, path)}">View the newer version</a></p>${checkbox(
    { name: 'overwrite', value: newer, label: 'Replace the newer version with this text', checked: false },
  )}`;

const editView = (visit: Visit, place: EditPlace, given: Given): View => {
  const { fields, last, problems = noProblems, newer } = given;
  const { project, ref, path } = place;
  const shown = newer === undefined ? problems : noProblems;
  const content = html`<section class="card"><div class="body">${form(
    visit,
    { action: codePath(project, 'edit', ref, path), submit: 'Commit changes', problems: shown },
    newer === undefined ? null : overwriteField(place, newer),
    fileFields(fields, shown),
    hidden('last_commit_id', last),
    commitFields(place, fields, shown),
  )}</div></section>
<p><a href="${codePath(project, 'delete', ref, path)}">Delete this file</a></p>`;
  const view = projectView(visit, { project, title: `Edit ${path}`, noun: 'edit' }, content);
  if (newer !== undefined) return { ...view, status: 409 };
  return problems === noProblems ? view : { ...view, status: 422 };
};

const show = page({
  method: 'GET',
  path: served,
  audience: 'user',
  params: object(placeParams),
  handle: async (visit, params) => {
    const place = await findEditPlace(visit, params);
    if (!mayEdit(visit, place)) return refusedView(visit, place);
    const loaded = await loadFile(place);
    const content = readText(loaded);
    if (content === null) return uneditableView(visit, place);
    const fields = {
      file_path: place.path,
      content,
      line_ends: /^[^\n]*\r\n/.test(content) ? ('crlf' as const) : ('lf' as const),
      branch: await proposeBranch(visit, place),
      commit_message: `Update ${loaded.file.file_name}`,
    };
    return editView(visit, place, { fields, last: loaded.file.last_commit_id });
  },
});

const commitId = optional(text({ maxLength: 64 }));

const isCommitId = (id: string): boolean => /^[0-9a-f]{40}$/.test(id);

const update = page({
  method: 'POST',
  path: served,
  audience: 'user',
  params: object({ ...placeParams, ...fileParams, last_commit_id: commitId, overwrite: commitId }),
  handle: async (visit, { project, rest, line_ends, ...sent }) => {
    const place = await findEditPlace(visit, { project, rest });
    requireEditor(visit, place);
    const { file_path = '', content = '', branch = '', commit_message = '', last_commit_id = '' } = sent;
    const fields = {
      file_path: cleanPath(file_path),
      content,
      line_ends,
      branch: branch.trim(),
      commit_message,
    };
    const seen = [sent.overwrite ?? '', last_commit_id].find(isCommitId);
    const isMoved = fields.file_path !== place.path;
    const { problems, isOutdated } = await commitChange(visit, place, fields, {
      action: isMoved ? 'move' : 'update',
      file_path: fields.file_path,
      ...(isMoved && { previous_path: place.path }),
      content: toContent(fields),
      ...(seen !== undefined && { last_commit_id: seen }),
    });
    const last = last_commit_id;
    if (isOutdated) {
      const newer = (await loadFile(await findEditPlace(visit, { project, rest }))).file.last_commit_id;
      return editView(visit, place, { fields, last, newer });
    }
    if (problems !== null) return editView(visit, place, { fields, last, problems });
    return redirect(codePath(place.project, 'blob', fields.branch, fields.file_path), 'The file is saved.');
  },
});

export const editPages = [show, update];
