/** Forms that save, rename, replace and delete views of lists of issues and merge requests. */
import type { Call } from '../../../../core/access/call.ts';
import { findGroup } from '../../../../identity/groups/find.ts';
import {
  type ViewedList,
  createSavedView,
  deleteSavedView,
  updateSavedView,
} from '../../../../planning/saved_views/saved_views.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { id, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { type Redirect, type Visit, redirect } from '../../page.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { type FormState, formPage } from '../../parts/fields/form_page.ts';
import { redirectWithProblems } from '../../parts/form_problems.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';

const root = '/-/saved_views';

/** Length of an address of a list. */
const maxAddress = 4_000;

const back = optional(text({ maxLength: maxAddress }));

/** @throws Failure 404 for a project or group that the caller does not see */
const requireVisible = async (call: Call, { project_id, group_id }: ViewedList): Promise<void> => {
  if (project_id !== undefined) await findProject(call, project_id);
  else if (group_id !== undefined) await findGroup(call, group_id);
};

const withQuery = (path: string, query: string): string => (query === '' ? path : `${path}?${query}`);

/** What the forms share: they are in the menu of a list, which shows their problems. */
const viewForm = {
  audience: 'user' as const,
  fromSent: ({ back: path }: RawParams) => fieldText(path),
  view: ({ call }: Visit, _found: unknown, { values, problems }: FormState<string>) =>
    redirectWithProblems(safeRedirectPath(values, call.baseUrl), problems),
};

const backToList = ({ call }: Visit, path: string, notice: string): Redirect =>
  redirect(safeRedirectPath(path, call.baseUrl), notice);

export const pages = [
  formPage({
    ...viewForm,
    path: root,
    address: {
      kind: oneOf(['issues', 'merge_requests']),
      project_id: optional(id()),
      group_id: optional(id()),
    },
    fields: { name: text(), query: optional(text({ maxLength: maxAddress })), back },
    find: async ({ call }, list) => {
      await requireVisible(call, list);
      return list;
    },
    fromSent: (sent) => withQuery(fieldText(sent['back']), fieldText(sent['query'])),
    run: async (visit, list, { name, query: sent = '', back: path = '/' }) => {
      const query = new URLSearchParams(sent).toString();
      await createSavedView(visit.call, list, { name, query });
      return backToList(visit, withQuery(path, query), 'The view was saved.');
    },
  }),
  formPage({
    ...viewForm,
    path: `${root}/replace`,
    address: { id: id() },
    fields: { query: optional(text({ maxLength: maxAddress })), back },
    find: async (_visit, address) => address.id,
    fromSent: (sent) => withQuery(fieldText(sent['back']), fieldText(sent['query'])),
    run: async (visit, viewId, { query: sent = '', back: path = '/' }) => {
      const query = new URLSearchParams(sent).toString();
      const name = await updateSavedView(visit.call, viewId, { query });
      return backToList(visit, withQuery(path, query), `The view ${name} was replaced.`);
    },
  }),
  formPage({
    ...viewForm,
    path: `${root}/:id`,
    address: { id: id() },
    fields: { name: text(), back },
    find: async (_visit, address) => address.id,
    run: async (visit, viewId, { name, back: path = '/' }) => {
      await updateSavedView(visit.call, viewId, { name });
      return backToList(visit, path, 'The view was renamed.');
    },
  }),
  formPage({
    ...viewForm,
    path: `${root}/:id/delete`,
    address: { id: id() },
    fields: { back },
    find: async (_visit, address) => address.id,
    run: async (visit, viewId, { back: path = '/' }) => {
      await deleteSavedView(visit.call, viewId);
      return backToList(visit, path, 'The view was deleted.');
    },
  }),
];
