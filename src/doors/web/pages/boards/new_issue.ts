/** Creates issues in the columns of a board. */
import { may } from '../../../../core/access/may.ts';
import { allOf, visibleFeature, visibleProjects } from '../../../../core/access/visible.ts';
import { selectDescendants } from '../../../../identity/namespaces/ancestors.ts';
import { forbidden, notFound } from '../../../../platform/errors.ts';
import { id, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import {
  type BoardColumn,
  type ColumnKey,
  columnFilters,
  listColumns,
} from '../../../../planning/boards/columns/columns.ts';
import { scopeOfBoard } from '../../../../planning/boards/columns/load.ts';
import { type Board, findBoard } from '../../../../planning/boards/queries.ts';
import { type NewIssue, createIssue } from '../../../../planning/issues/create.ts';
import type { Filters } from '../../../../planning/issues/lists/filters.ts';
import { listIssueVersions } from '../../../../planning/issues/lists/list.ts';
import { reorderIssue } from '../../../../planning/issues/positions/reorder.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form, hidden, input, select } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import { columnName } from './column_name.ts';
import { type BoardsPlace, type BoardsRoute, placeParams } from './project_or_group_routes.ts';
import { backTo, readKey, returnParams } from './return_path.ts';

const maxProjects = 100;

type ProjectChoice = { id: number; full_path: string };

/** Projects below a group that have issues and that the visitor sees, by path; at most a hundred. */
const groupProjects = async ({ call }: Visit, groupId: number): Promise<ProjectChoice[]> => {
  const { dialect } = call.platform.store;
  return await call.db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where('namespace_id', 'in', selectDescendants(groupId))
    .where(
      allOf([
        visibleProjects(call.viewer, dialect),
        visibleFeature(call.viewer, 'issues_access_level', dialect),
      ]),
    )
    .where('archived', '=', 0)
    .orderBy('full_path')
    .limit(maxProjects)
    .execute();
};

/**
 * Returns whether the visitor may create issues in a column. Users without a role cannot set labels, assignees and
 * milestones.
 */
const mayCreateIn = ({ call }: Visit, { project }: BoardsPlace, { key, list }: BoardColumn): boolean => {
  if (key === 'closed' || !call.signedIn) return false;
  if (project === null) return true;
  return (
    may(call.viewer, 'create_issue', project) && (list === null || may(call.viewer, 'admin_issue', project))
  );
};

/** Renders the form of a new issue in a column of a project's board: it opens in the column. */
const newIssueMenu = (visit: Visit, path: string, query: string, column: BoardColumn): Html => {
  const name = `New issue in ${columnName(column)}`;
  const content = form(
    visit,
    { action: `${path}/issues`, submit: 'Create issue', name: `Create issue in ${columnName(column)}` },
    hidden('list', column.key),
    hidden('query', query),
    input({ name: 'title', id: `title_${column.key}`, label: 'Title', required: true, autocomplete: 'off' }),
  );
  return menu(
    { summary: icon('plus'), label: name, classes: 'button quiet' },
    html`<div class="filter-fields">${content}</div>`,
  );
};

/** Renders what creates an issue in a column: a form, or a link to a page where the project has to be chosen, too. */
export const newIssueLink = (
  visit: Visit,
  { place, path, query }: { place: BoardsPlace; path: string; query: string },
  column: BoardColumn,
): Html | null => {
  if (!mayCreateIn(visit, place, column)) return null;
  if (place.group === null) return newIssueMenu(visit, path, query, column);
  const name = `New issue in ${columnName(column)}`;
  const href = backTo(
    `${path}/issues/new`,
    new URLSearchParams({ list: String(column.key), query }).toString(),
  );
  return html`<a class="button quiet" href="${href}" title="${name}">${icon('plus', name)}</a>`;
};

type Filled = { title: string; project_id: string };

type Place = { place: BoardsPlace; board: Board; column: BoardColumn; query: string };

const formView = async (
  visit: Visit,
  { place, board, column, query }: Place,
  { values: { title, project_id }, problems }: FormState<Filled>,
): Promise<View> => {
  const projects = place.group === null ? [] : await groupProjects(visit, place.group.id);
  const content = html`<p class="muted">In the column ${columnName(column)} of <a href="${place.path}/${board.id}">${board.name}</a>.</p>
<section class="card form-page"><div class="body">${form(
    visit,
    { action: `${place.path}/${board.id}/issues`, submit: 'Create issue', problems },
    hidden('list', column.key),
    hidden('query', query),
    input({ name: 'title', label: 'Title', value: title, required: true, autofocus: true, problems }),
    place.group === null
      ? null
      : select({
          name: 'project_id',
          label: 'Project',
          value: project_id,
          options: projects.map((one) => [String(one.id), one.full_path] as const),
          problems,
        }),
  )}</div></section>`;
  return place.view(visit, { title: 'New issue' }, content);
};

/** Returns the fields that put an issue into a column of a board. */
const toNewIssue = (board: Board, { list }: BoardColumn, title: string): NewIssue => {
  const ofList = list?.label_id ?? null;
  const labelIds = [...board.labels.map((one) => one.id), ...(ofList === null ? [] : [ofList])];
  const assignee = list?.assignee_id ?? board.assignee?.id ?? null;
  const milestone = list?.milestone_id ?? board.milestone?.id ?? null;
  return {
    title,
    ...(labelIds.length > 0 && { add_label_ids: labelIds }),
    ...(assignee !== null && { assignee_ids: [assignee] }),
    ...(milestone !== null && { milestone_id: milestone }),
  };
};

/** @throws Failure 404 for a project that is hidden or not of the group */
const findTarget = async (
  visit: Visit,
  place: BoardsPlace,
  projectId: number | undefined,
): Promise<Project> => {
  if (place.project !== null) return place.project;
  const project = await findProject(visit.call, projectId ?? 0);
  if (!project.full_path.toLowerCase().startsWith(`${place.group.full_path.toLowerCase()}/`))
    throw notFound();
  return project;
};

/** Creates the issue as the first of its column. */
const createInColumn = async (
  visit: Visit,
  { place, board, column }: Place,
  project: Project,
  title: string,
) => {
  const { call } = visit;
  const filters = columnFilters(board, column, { scope: 'all' } as Filters);
  const page = { page: 1, per_page: 1, limit: 1, offset: 0 };
  const [first] = await listIssueVersions({ call, scope: scopeOfBoard(place), filters, page });
  const created = await createIssue(call, project, toNewIssue(board, column, title));
  if (first !== undefined) await reorderIssue(call, created, { above: null, below: first.id });
};

const findColumn = (board: Board, key: ColumnKey): BoardColumn => {
  const column = listColumns(board).find((one) => one.key === key);
  if (column === undefined || key === 'closed') throw notFound();
  return column;
};

const findPlace = async (
  { find }: BoardsRoute,
  visit: Visit,
  params: { project?: string; group?: string; id: number; list: string; query?: string | null },
): Promise<Place> => {
  const place = await find(visit.call, params);
  const board = await findBoard(visit.call.db, place.owner, params.id);
  const column = findColumn(board, readKey(params.list));
  if (!mayCreateIn(visit, place, column)) throw forbidden();
  return { place, board, column, query: params.query ?? '' };
};

const inColumn = { ...placeParams, id: id(), list: text({ maxLength: 20 }), ...returnParams };

export const newIssuePages = (route: BoardsRoute): AnyPage[] => [
  page({
    method: 'GET',
    path: `${route.routePath}/:id/issues/new`,
    audience: 'user',
    params: object(inColumn),
    handle: async (visit, params) =>
      await formView(visit, await findPlace(route, visit, params), unsent({ title: '', project_id: '' })),
  }),
  formPage({
    path: `${route.routePath}/:id/issues`,
    audience: 'user',
    // The form has the column as a hidden field.
    address: inColumn,
    fields: { title: longText(), project_id: optional(id()) },
    find: async (visit, address) => await findPlace(route, visit, address),
    fromSent: (sent) => readTexts(sent, ['title', 'project_id']),
    run: async (visit, target, { title, project_id }) => {
      const { place, board, column, query } = target;
      const project = await findTarget(visit, place, project_id);
      const isAllowed =
        may(visit.call.viewer, 'create_issue', project) &&
        (column.list === null || may(visit.call.viewer, 'admin_issue', project));
      if (!isAllowed) throw forbidden();
      await createInColumn(visit, target, project, title);
      return redirect(backTo(`${place.path}/${board.id}`, query, `list-${column.key}`));
    },
    view: formView,
  }),
];
