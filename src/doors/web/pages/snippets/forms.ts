/** Forms that create, edit and delete snippets. */
import { findVisibilityProblem } from '../../../../core/settings/setting_effects.ts';
import type { Visibility } from '../../../../platform/db/schema/column_types.ts';
import { forbidden } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
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
import { type View, type Visit, page, redirect, withRefusal } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { checkbox, form, hidden, input } from '../../parts/form.ts';
import type { FormProblems } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { editedMeanwhile } from '../../parts/timeline/edit_conflicts.ts';
import { submitLabel } from '../../parts/fields/saved_meanwhile.ts';
import { visibilityChoice } from '../../parts/fields/visibility.ts';
import {
  type Filled,
  type StoredSnippet,
  conflictCard,
  findDifferences,
  fingerprint,
  fromStored,
  withoutRemovedFiles,
} from './edit_conflict.ts';
import { fileFields, readRows, toFileActions, toRowProblems } from './file_fields.ts';
import { type SnippetRoutes, type SnippetList, ownerParam } from './personal_or_project_routes.ts';

const visibilities = ['private', 'internal', 'public'] as const;

const filledParams = {
  title: optional(longText()),
  description: optional(longText()),
  files: optional(raw('rows of `file_path` and `content`')),
  visibility: optional(oneOf(visibilities)),
};

/** @param usual visibility of a form that sends none */
const fromSent = (sent: RawParams, usual: Visibility): Filled => ({
  ...readTexts(sent, ['title', 'description']),
  files: readRows(sent['files']),
  visibility: visibilities.find((one) => one === sent['visibility']) ?? usual,
});

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

const newView = (visit: Visit, list: SnippetList, { values, problems }: FormState<Filled>): View => {
  const target = { list, action: list.listPath, submit: 'Create snippet' };
  const shown = snippetProblems(problems, values);
  return list.view('New snippet', snippetForm(visit, target, values, shown));
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
      newView(
        visit,
        await openNew(routes, visit, params),
        unsent(fromSent({}, visit.call.settings.default_snippet_visibility)),
      ),
  }),
  formPage({
    path: routes.list,
    audience: 'user',
    address: ownerParam,
    fields: filledParams,
    find: async (visit, address) => ({
      list: await openNew(routes, visit, address),
      usual: visit.call.settings.default_snippet_visibility,
    }),
    fromSent: (sent, { usual }) => fromSent(sent, usual),
    run: async ({ call }, { list, usual }, params) => {
      const filled = fromSent(params, usual);
      const files = applyFileActions([], toFileActions(filled.files));
      const { id: snippetId } = await createSnippet(call, list.home, { ...filled, files });
      return redirect(list.pathOf(snippetId));
    },
    view: (visit, { list }, state) => newView(visit, list, state),
  }),
];

type Own = StoredSnippet & { list: SnippetList };

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

/** `base`: fingerprint that the form was opened with; absent: the form replaces the snippet. */
type Edit = Filled & { base?: string | undefined };

const editView = (visit: Visit, own: Own, { values, problems }: FormState<Edit>): View => {
  const { list, snippet } = own;
  const path = list.pathOf(snippet.id);
  const base = fingerprint(own);
  const isUnchanged = values.base === undefined || values.base === base;
  const differences = isUnchanged ? [] : findDifferences(own, values);
  const isConflict = differences.length > 0;
  const filled = isConflict ? withoutRemovedFiles(values, own) : values;
  const target = { list, action: path, submit: submitLabel(isConflict), base };
  const content = html`${snippetForm(visit, target, filled, snippetProblems(problems, values))}${
    isConflict && html`<div class="form-page snippet-form">${conflictCard(differences, `${path}/edit`)}</div>`
  }
<p><a href="${path}">Back to the snippet</a></p>
<section class="card danger-zone"><header><h2>Delete this snippet</h2></header><div class="body">${form(
    visit,
    { action: `${path}/delete`, submit: 'Delete snippet', danger: true },
    checkbox({ name: 'confirmed', label: `Delete $${snippet.id} permanently`, checked: false }),
  )}</div></section>`;
  return list.view(`Edit $${snippet.id}`, content);
};

/** Aborts an edit that is saved already, as when the form is sent twice: its files cannot be renamed again. */
const alreadySaved = new Error('already saved');

/** @throws Failure 409 if somebody saved other values since the form was opened; `alreadySaved` */
const requireUnchanged = (stored: StoredSnippet, filled: Filled, base: string | undefined): void => {
  if (base === undefined || base === fingerprint(stored)) return;
  throw findDifferences(stored, filled).length > 0 ? editedMeanwhile('snippet') : alreadySaved;
};

const toEdit = (sent: RawParams, { snippet }: Own): Edit => ({
  ...fromSent(sent, snippet.visibility),
  base: typeof sent['base'] === 'string' ? sent['base'] : undefined,
});

const editPages = (routes: SnippetRoutes) => [
  page({
    method: 'GET',
    path: `${routes.one}/:id/edit`,
    audience: 'user',
    params: object({ ...ownerParam, id: id() }),
    handle: async (visit, params) => {
      const own = await openOwn(routes, visit, params);
      return editView(visit, own, unsent(fromStored(own)));
    },
  }),
  formPage({
    path: `${routes.one}/:id`,
    audience: 'user',
    address: { ...ownerParam, id: id() },
    fields: { ...filledParams, base: optional(text()) },
    find: async (visit, address) => await openOwn(routes, visit, address),
    fromSent: toEdit,
    run: async ({ call }, { list, snippet }, { base, ...params }) => {
      const filled = fromSent(params, snippet.visibility);
      const edit = { ...filled, files: toFileActions(filled.files) };
      const key = { home: list.home, id: snippet.id };
      try {
        await updateSnippet(call, key, edit, (locked, files) =>
          requireUnchanged({ snippet: locked, files }, filled, base),
        );
      } catch (error) {
        if (error !== alreadySaved) throw error;
      }
      return redirect(list.pathOf(snippet.id));
    },
    view: editView,
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
        return withRefusal(editView(visit, own, { values: fromStored(own), problems }));
      }
      await deleteSnippet(visit.call, list.home, snippet.id);
      return redirect(list.listPath, `Snippet $${snippet.id} was deleted.`);
    },
  }),
];

export const formPages = (routes: SnippetRoutes) => [...newPages(routes), ...editPages(routes)];
