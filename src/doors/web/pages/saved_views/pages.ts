/** Forms that save, rename and delete views of lists of issues and merge requests. */
import type { Call } from '../../../../core/access/call.ts';
import { findGroup } from '../../../../identity/groups/find.ts';
import {
  type ViewedList,
  createSavedView,
  deleteSavedView,
  renameSavedView,
} from '../../../../planning/saved_views/saved_views.ts';
import { id, object, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { type AnyPage, type Visit, Redirect, page, redirect } from '../../page.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { safeRedirectPath } from '../../request/safe_redirect_path.ts';
import { problemText } from '../issuables/submit_form.ts';

const root = '/-/saved_views';

/** Length of an address of a list. */
const maxAddress = 4_000;

const back = optional(text({ maxLength: maxAddress }));

/** @throws Failure 404 for a project or group that the caller does not see */
const requireVisible = async (call: Call, { project_id, group_id }: ViewedList): Promise<void> => {
  if (project_id !== undefined) await findProject(call, project_id);
  else if (group_id !== undefined) await findGroup(call, group_id);
};

/** Returns to the list, with the problems. The forms are in its menu. */
const refuse = (to: string, baseUrl: string, problems: FormProblems): Redirect =>
  new Redirect(safeRedirectPath(to, baseUrl), { kind: 'alert', text: problemText(problems) });

/** Runs an operation and returns to the list, with what happened. */
const answer = async (
  { call }: Visit,
  operation: () => Promise<void>,
  { to, notice }: { to: string; notice: string },
): Promise<Redirect> => {
  const problems = await attempt(operation);
  if (problems !== null) return refuse(to, call.baseUrl, problems);
  return redirect(safeRedirectPath(to, call.baseUrl), notice);
};

const withQuery = (path: string, query: string): string => (query === '' ? path : `${path}?${query}`);

/** Shows the problems on the list. */
const invalid: NonNullable<AnyPage['invalid']> = async ({ call }, sent, fields) =>
  refuse(withQuery(fieldText(sent['back']), fieldText(sent['query'])), call.baseUrl, { text: null, fields });

export const pages = [
  page({
    method: 'POST',
    path: root,
    audience: 'user',
    params: object({
      kind: oneOf(['issues', 'merge_requests']),
      project_id: optional(id()),
      group_id: optional(id()),
      name: text(),
      query: optional(text({ maxLength: maxAddress })),
      back,
    }),
    invalid,
    handle: async (visit, { name, query: sent = '', back: path = '/', ...list }) => {
      await requireVisible(visit.call, list);
      const query = new URLSearchParams(sent).toString();
      return await answer(visit, async () => await createSavedView(visit.call, list, { name, query }), {
        to: withQuery(path, query),
        notice: 'The view was saved.',
      });
    },
  }),
  page({
    method: 'POST',
    path: `${root}/:id`,
    audience: 'user',
    params: object({ id: id(), name: text(), back }),
    invalid,
    handle: async (visit, { id: viewId, name, back: to = '/' }) =>
      await answer(visit, async () => await renameSavedView(visit.call, viewId, name), {
        to,
        notice: 'The view was renamed.',
      }),
  }),
  page({
    method: 'POST',
    path: `${root}/:id/delete`,
    audience: 'user',
    params: object({ id: id(), back }),
    handle: async (visit, { id: viewId, back: to = '/' }) =>
      await answer(visit, async () => await deleteSavedView(visit.call, viewId), {
        to,
        notice: 'The view was deleted.',
      }),
  }),
];
