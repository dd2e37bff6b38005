/** Creates a file: `/group/project/-/new/main/folder`. */
import { object } from '../../../../platform/http/schema.ts';
import { cleanPath } from '../../../../code/repository/commits/file_actions.ts';
import { type View, type Visit, page } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type FormProblems, form, noProblems } from '../../parts/form.ts';
import { projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { commitChange } from './commit_change.ts';
import { afterCommit, commitFields, proposeCommit, readCommitFields } from './commit_form.ts';
import {
  type EditPlace,
  findEditPlace,
  mayEdit,
  placeParams,
  refusedView,
  requireEditor,
} from './edit_target.ts';
import { type FileFields, fileFields, fileParams, toContent } from './file_form.ts';

const served = `${projectRoot}/new/:rest`;

const newView = (
  visit: Visit,
  place: EditPlace,
  fields: FileFields,
  problems: FormProblems = noProblems,
): View => {
  const { project, ref, path } = place;
  const given = { action: codePath(project, 'new', ref, path), submit: 'Commit changes', problems };
  const content = html`<section class="card"><div class="body">${form(visit, given, fileFields(fields, problems), commitFields(visit, place, fields, problems))}</div></section>`;
  const view = projectView(visit, { project, title: 'New file', noun: 'new' }, content);
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
    return newView(visit, place, {
      file_path: place.path === '' ? '' : `${place.path}/`,
      content: '',
      line_ends: 'lf',
      ...(await proposeCommit(visit, place, 'Add a file')),
    });
  },
});

const create = page({
  method: 'POST',
  path: served,
  audience: 'user',
  params: object({ ...placeParams, ...fileParams }),
  handle: async (visit, { project, rest, line_ends, file_path = '', content = '', ...commit }) => {
    const place = await findEditPlace(visit, { project, rest });
    requireEditor(visit, place);
    const fields = { ...readCommitFields(commit), file_path: cleanPath(file_path), content, line_ends };
    const action = {
      action: 'create',
      file_path: fields.file_path,
      content: toContent({ content, line_ends }),
    } as const;
    const { problems } = await commitChange(visit, place, fields, action);
    if (problems !== null) return newView(visit, place, fields, problems);
    const path = codePath(place.project, 'blob', fields.branch, fields.file_path);
    return afterCommit(visit, place, fields, { path, notice: 'The file is created.' });
  },
});

export const newPages = [show, create];
