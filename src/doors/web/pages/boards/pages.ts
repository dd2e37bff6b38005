/** Boards of projects and groups. */
import { createBoard } from '../../../../planning/boards/change.ts';
import { scopeOfBoard } from '../../../../planning/boards/columns/load.ts';
import { moveCard } from '../../../../planning/boards/move_card.ts';
import { boardNames, findBoard } from '../../../../planning/boards/queries.ts';
import { id, integer, longText, names, object, optional, text } from '../../../../platform/http/schema.ts';
import { notFound } from '../../../../platform/errors.ts';
import { type AnyPage, Redirect, type View, type Visit, page, redirect } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { type FormState, formPage, unsent } from '../../parts/fields/form_page.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { withFormStatus } from '../../parts/form_problems.ts';
import { type Html, html } from '../../parts/html.ts';
import { answerTyped } from '../issuables/list/list_page.ts';
import { narrowScope } from '../issuables/list/narrow_to_project.ts';
import { issueListKind } from '../issues/list/list_view.ts';
import { type IssueListQuery, issueListParams, readShownQuery } from '../issues/list/read_query.ts';
import { boardView } from './board_view.ts';
import { foldedQuery } from './folded_columns.ts';
import { editPages } from './board_settings_pages.ts';
import { newIssuePages } from './new_issue.ts';
import {
  type BoardsPlace,
  type BoardsRoute,
  boardsRoutes,
  findToChange,
  placeParams,
} from './project_or_group_routes.ts';
import { backTo, readKey, returnParams } from './return_path.ts';

const { state: _state, order_by: _order, sort: _sort, ...filterParams } = issueListParams;

const shownParams = {
  ...filterParams,
  /** The column that shows more issues than the first, and how many. */
  list: optional(text({ maxLength: 20 })),
  count: optional(integer({ minimum: 1, maximum: 1_000 })),
  /** The columns that are folded. */
  folded: optional(names()),
};

const firstName = 'Development';

const noBoards = (visit: Visit, place: BoardsPlace): View => {
  const create = form(visit, { action: place.path, submit: 'Create board' }, hidden('name', firstName));
  return place.view(
    visit,
    { title: 'Boards', hasHeading: true },
    html`<h1 class="visually-hidden">Boards</h1><section class="card">${emptyState({
      icon: 'issue',
      title: 'No boards yet',
      text: 'A board shows issues in columns: by label, by assignee or by milestone.',
      action: place.canChange && create,
    })}</section>`,
  );
};

/** Shows the first board. */
const first = (route: BoardsRoute): AnyPage =>
  page({
    method: 'GET',
    path: route.routePath,
    audience: route.audience,
    params: object(placeParams),
    handle: async (visit, params) => {
      const place = await route.find(visit.call, params);
      const [board] = await boardNames(visit.call.db, place.owner, 1);
      return board === undefined ? noBoards(visit, place) : redirect(`${place.path}/${board.id}`);
    },
  });

const show = (route: BoardsRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${route.routePath}/:id`,
    audience: route.audience,
    params: object({ ...placeParams, id: id(), ...shownParams }),
    handle: async (visit, params): Promise<View | Redirect> => {
      const { project: _project, group: _group, id: boardId, list, count, folded = [], ...sent } = params;
      const place = await route.find(visit.call, params);
      const board = await findBoard(visit.call.db, place.owner, boardId);
      const path = `${place.path}/${board.id}`;
      const query = { ...sent, state: 'opened', order_by: 'created_at', sort: 'desc' } as IssueListQuery;
      const read = readShownQuery(query, { project: place.project, now: visit.call.now });
      const kept = foldedQuery(folded);
      const asked = { query: { ...read, otherParams: kept }, typed: sent.q ?? null };
      const typed = answerTyped(visit, { path, project: place.project }, issueListKind, asked);
      if (typed instanceof Redirect) return typed;
      const expanded = list === undefined || list === null || count === undefined ? null : { list, count };
      const scope = await narrowScope(visit, scopeOfBoard(place), query.project_path);
      return await boardView(visit, { place, board, path, query: { read, scope, expanded, typed, folded } });
    },
  });

const newView = (
  visit: Visit,
  place: BoardsPlace,
  { values: name, problems }: FormState<string> = unsent(''),
): View => {
  const content: Html = html`<section class="card form-page"><div class="body">${form(
    visit,
    { action: place.path, submit: 'Create board', problems },
    input({ name: 'name', label: 'Name', value: name, required: true, autofocus: true, problems }),
  )}</div></section>`;
  const view = place.view(visit, { title: 'New board' }, content);
  return withFormStatus(view, problems);
};

const create = (route: BoardsRoute): AnyPage[] => [
  page({
    method: 'GET',
    path: `${route.routePath}/new`,
    audience: 'user',
    params: object(placeParams),
    handle: async (visit, params) => newView(visit, await findToChange(route, visit.call, params)),
  }),
  formPage({
    path: route.routePath,
    audience: 'user',
    address: placeParams,
    fields: { name: longText() },
    find: async ({ call }, address) => await findToChange(route, call, address),
    fromSent: (sent) => fieldText(sent['name']),
    run: async ({ call }, place, { name }) => {
      const board = await createBoard(call, place, { name });
      return redirect(`${place.path}/${board.id}/edit`, 'The board was created. Add its lists.');
    },
    view: newView,
  }),
];

/** `issue:from:to:above:below`, as the buttons of cards send it. */
const movePattern = /^(\d{1,15}):(\w{1,15}):(\w{1,15}):(\d{0,15}):(\d{0,15})$/;

const toId = (sent = ''): number | null => (sent === '' ? null : Number(sent));

const move = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/move`,
    audience: 'user',
    params: object({ ...placeParams, id: id(), move: text({ maxLength: 100 }), ...returnParams }),
    handle: async (visit, params) => {
      const { call } = visit;
      const place = await route.find(call, params);
      const board = await findBoard(call.db, place.owner, params.id);
      const [, issue, from = '', to = '', above, below] = movePattern.exec(params.move) ?? [];
      if (issue === undefined) throw notFound();
      await moveCard(call, place, board, {
        issue: Number(issue),
        from: readKey(from),
        to: readKey(to),
        neighbours: { above: toId(above), below: toId(below) },
      });
      return redirect(backTo(`${place.path}/${board.id}`, params.query, `card-${issue}`));
    },
  });

export const pages = boardsRoutes.flatMap((route) => [
  first(route),
  ...create(route),
  show(route),
  move(route),
  ...newIssuePages(route),
  ...editPages(route),
]);
