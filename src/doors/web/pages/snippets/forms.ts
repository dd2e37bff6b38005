/** Forms that create, edit and delete snippets. */
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import { forbidden } from '../../../../platform/errors.ts';
import {
  object,
  boolean,
  id,
  longText,
  oneOf,
  optional,
  raw,
  text,
} from '../../../../platform/http/schema.ts';
import { applyFileActions } from '../../../../projects/snippets/apply_file_actions.ts';
import { createSnippet } from '../../../../projects/snippets/create.ts';
import { deleteSnippet } from '../../../../projects/snippets/delete.ts';
import { mayCreate, requireChange } from '../../../../projects/snippets/snippet_home.ts';
import { loadFiles } from '../../../../projects/snippets/files.ts';
import { findSnippet } from '../../../../projects/snippets/queries.ts';
import { updateSnippet } from '../../../../projects/snippets/update.ts';
import { type Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import {
  type FormProblems,
  answerForm,
  attempt,
  checkbox,
  form,
  hidden,
  input,
  noProblems,
  withFormStatus,
} from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { editedMeanwhile } from '../../parts/timeline/edit_conflicts.ts';
import { submitLabel } from '../issuables/edit_conflict_card.ts';
import { visibilityChoice } from '../../parts/fields/visibility.ts';
import {
  type Filled,
  type StoredSnippet,
  conflictCard,
  fingerprint,
  fromStored,
  withoutRemovedFiles,
} from './edit_conflict.ts';
import { fileFields, readRows, toFileActions, toRowProblems } from './file_fields.ts';
import { type SnippetRoutes, type SnippetList, ownerParam } from './personal_or_project_routes.ts';

const filledParams = {
  title: optional(longText()),
  description: optional(longText()),
  files: optional(raw('rows of `file_path` and `content`')),
  visibility: optional(oneOf(['private', 'internal', 'public'])),
};

type Sent = { [N in Exclude<keyof Filled, 'files'>]?: Filled[N] | undefined } & { files?: unknown };

const toFilled = ({ call }: Visit, sent: Sent): Filled => {
  const { title = '', description = '', files } = sent;
  return {
    title,
    description,
    files: readRows(files),
    visibility: sent.visibility ?? call.settings.default_snippet_visibility,
  };
};

/** Names the problems of the visibility and of files by their fields. */
const snippetProblems = (problems: FormProblems, { files }: Filled): FormProblems => {
  const { text, fields } = toRowProblems(problems, files);
  const { visibility_level, ...others } = fields;
  return {
    text,
    fields: { ...others, ...(visibility_level !== undefined && { visibility: visibility_level }) },
  };
};

type Target = {
  list: SnippetList;
  action: string;
  submit: string;
  /** Fingerprint of the stored snippet. */
  base?: string;
};

const snippetForm = (
  visit: Visit,
  { list, action, submit, base }: Target,
  filled: Filled,
  problems: FormProblems,
): Html =>
  html`<div class="form-page snippet-form">${form(
    visit,
    { action, submit, problems },
    input({ name: 'title', label: 'Title', value: filled.title, required: true, problems }),
    markdownEditor({
      name: 'description',
      label: 'Description',
      project: list.home,
      value: filled.description,
      rows: 3,
      problems,
    }),
    fileFields(filled.files, problems),
    visibilityChoice({
      value: filled.visibility,
      limit: (visibility) => findVisibilityProblem(visit.call, visibility),
      ...(list.home === null && { privateMeaning: 'Only you.' }),
      problems,
    }),
    base === undefined ? null : hidden('base', base),
  )}</div>`;

const newView = (
  visit: Visit,
  list: SnippetList,
  filled: Filled,
  problems: FormProblems = noProblems,
): View => {
  const given = { list, action: list.listPath, submit: 'Create snippet' };
  const view = list.view('New snippet', snippetForm(visit, given, filled, problems));
  return withFormStatus(view, problems);
};

const openNew = async (
  routes: SnippetRoutes,
  visit: Visit,
  params: { project?: string | undefined },
): Promise<SnippetList> => {
  const list = await routes.open(visit, params);
  if (!mayCreate(visit.call, list.home)) throw forbidden();
  return list;
};

const newPages = (routes: SnippetRoutes) => [
  page({
    method: 'GET',
    path: `${routes.list}/new`,
    audience: 'user',
    params: object(ownerParam),
    handle: async (visit, params) =>
      newView(visit, await openNew(routes, visit, params), toFilled(visit, {})),
  }),
  page({
    method: 'POST',
    path: routes.list,
    audience: 'user',
    params: object({ ...ownerParam, ...filledParams }),
    handle: async (visit, params) => {
      const list = await openNew(routes, visit, params);
      const filled = toFilled(visit, params);
      return await answerForm(
        async () => {
          const files = applyFileActions([], toFileActions(filled.files));
          const { id: snippetId } = await createSnippet(visit.call, list.home, { ...filled, files });
          return redirect(list.pathOf(snippetId));
        },
        (problems) => newView(visit, list, filled, snippetProblems(problems, filled)),
      );
    },
  }),
];

type Own = StoredSnippet & {
  list: SnippetList;
  /** What somebody saved since the form was opened. */
  conflict?: Html | null;
};

/** Loads a snippet that the user may change. @throws Failure 404, 403 */
const openOwn = async (
  routes: SnippetRoutes,
  visit: Visit,
  params: { project?: string | undefined; id: number },
): Promise<Own> => {
  const { call } = visit;
  const list = await routes.open(visit, params);
  const snippet = await findSnippet(call, call.db, list.home, params.id);
  requireChange(call, list.home, snippet);
  return { list, snippet, files: await loadFiles(call.db, snippet.id) };
};

const editView = (
  visit: Visit,
  own: Own,
  filled: Filled = fromStored(own),
  problems: FormProblems = noProblems,
): View => {
  const { list, snippet, conflict = null } = own;
  const path = list.pathOf(snippet.id);
  const submit = submitLabel(conflict !== null);
  const target = { list, action: path, submit, base: fingerprint(own) };
  const content = html`${snippetForm(visit, target, filled, problems)}${conflict !== null && html`<div class="form-page snippet-form">${conflict}</div>`}
<p><a href="${path}">Back to the snippet</a></p>
<section class="card danger-zone"><header><h2>Delete this snippet</h2></header><div class="body">${form(
    visit,
    { action: `${path}/delete`, submit: 'Delete snippet', danger: true },
    checkbox({ name: 'confirmed', label: `Delete $${snippet.id} permanently`, checked: false }),
  )}</div></section>`;
  const view = list.view(`Edit $${snippet.id}`, content);
  return withFormStatus(view, problems);
};

type Edit = {
  own: Own;
  filled: Filled;
  /** Fingerprint that the form was opened with; absent: the form replaces the snippet. */
  base: string | undefined;
};

const saveEdit = async (visit: Visit, { own, filled, base }: Edit): Promise<View | Redirect> => {
  const { list, snippet } = own;
  const problems = await attempt(async () => {
    const edit = { ...filled, files: toFileActions(filled.files) };
    await updateSnippet(visit.call, { home: list.home, id: snippet.id }, edit, (locked, files) => {
      const isChanged = base !== undefined && base !== fingerprint({ snippet: locked, files });
      if (isChanged) throw editedMeanwhile('snippet');
    });
  });
  const path = list.pathOf(snippet.id);
  if (problems === null) return redirect(path);
  const wrong = snippetProblems(problems, filled);
  if (base === undefined || base === fingerprint(own)) return editView(visit, own, filled, wrong);
  const conflict = conflictCard(own, filled, `${path}/edit`);
  return editView(visit, { ...own, conflict }, withoutRemovedFiles(filled, own), wrong);
};

const editPages = (routes: SnippetRoutes) => [
  page({
    method: 'GET',
    path: `${routes.one}/:id/edit`,
    audience: 'user',
    params: object({ ...ownerParam, id: id() }),
    handle: async (visit, params) => {
      const own = await openOwn(routes, visit, params);
      return editView(visit, own);
    },
  }),
  page({
    method: 'POST',
    path: `${routes.one}/:id`,
    audience: 'user',
    params: object({ ...ownerParam, id: id(), ...filledParams, base: optional(text()) }),
    handle: async (visit, { base, ...params }) => {
      const own = await openOwn(routes, visit, params);
      const filled = toFilled(visit, { visibility: own.snippet.visibility, ...params });
      return await saveEdit(visit, { own, filled, base });
    },
  }),
  page({
    method: 'POST',
    path: `${routes.one}/:id/delete`,
    audience: 'user',
    params: object({ ...ownerParam, id: id(), confirmed: optional(boolean()) }),
    handle: async (visit, params) => {
      const own = await openOwn(routes, visit, params);
      const { list, snippet } = own;
      if (params.confirmed !== true) {
        const problems = { text: 'Confirm that the snippet is to be deleted.', fields: {} };
        return editView(visit, own, undefined, problems);
      }
      await deleteSnippet(visit.call, list.home, snippet.id);
      return redirect(list.listPath, `Snippet $${snippet.id} was deleted.`);
    },
  }),
];

/** Makes the pages with forms. */
export const formPages = (routes: SnippetRoutes) => [...newPages(routes), ...editPages(routes)];
