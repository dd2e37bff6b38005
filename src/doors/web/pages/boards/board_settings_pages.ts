/** Forms that edit a board and its lists, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { deleteBoard, updateBoard } from '../../../../planning/boards/change.ts';
import {
  type NewList,
  createList,
  deleteList,
  updateList,
} from '../../../../planning/boards/lists/change.ts';
import { type Board, findBoard, findList } from '../../../../planning/boards/queries.ts';
import { invalid, isNotFound } from '../../../../platform/errors.ts';
import { boolean, id, integer, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { availableTo } from '../../../../projects/project_or_group/owner.ts';
import { findLabel } from '../../../../projects/labels/queries.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { readTexts } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { baseField } from '../../parts/fields/guard_edits.ts';
import { boardGuard, fromTexts, limitGuard, orderGuard, orderWith } from './concurrent_edits.ts';
import { editBoardView } from './edit_view.ts';
import {
  type BoardsPlace,
  type BoardsRoute,
  type PlaceParams,
  findToChange,
  placeParams,
} from './project_or_group_routes.ts';
import { backTo, returnParams } from './return_path.ts';

type One = PlaceParams & { id: number };

type Found = { place: BoardsPlace; board: Board; path: string };

const findBoardToChange = async (route: BoardsRoute, { call }: Visit, params: One): Promise<Found> => {
  const place = await findToChange(route, call, params);
  const board = await findBoard(call.db, place.owner, params.id);
  return { place, board, path: `${place.path}/${board.id}` };
};

const oneBoard = { ...placeParams, id: id() };

/** Finds a user by name. @throws Failure 400 about the field */
const findUserId = async ({ db }: Call, name: string): Promise<number> => {
  const username = name.trim().replace(/^@/, '').toLowerCase();
  const user = await db
    .selectFrom('users')
    .select('id')
    .where((is) => is(is.fn<string>('lower', ['username']), '=', username))
    .executeTakeFirst();
  if (user === undefined) throw invalid({ assignee: ['No user has this name'] });
  return user.id;
};

/** Finds a milestone of the owner or of a group above by its title. @throws Failure 400 about the field */
const findMilestoneId = async ({ db }: Call, { owner }: BoardsPlace, title: string): Promise<number> => {
  const milestone = await db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title.trim())
    .where(availableTo('milestones', owner))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (milestone === undefined) throw invalid({ milestone: ['No milestone has this title'] });
  return milestone.id;
};

/** Finds a label of the owner or of a group above by its title. @throws Failure 400 about the field */
const findLabelId = async ({ db }: Call, { owner }: BoardsPlace, title: string): Promise<number> => {
  try {
    return (await findLabel(db, owner, { title: title.trim() }, 'available')).id;
  } catch (error) {
    if (isNotFound(error)) throw invalid({ label: ['No label has this name'] });
    throw error;
  }
};

const boardFields = {
  name: longText(),
  show_open: boolean({ default: false }),
  show_closed: boolean({ default: false }),
  labels: optional(longText()),
  assignee: optional(text()),
  milestone: optional(text()),
  ...baseField,
};

const isEmpty = (value: string | null | undefined): boolean => (value ?? '').trim() === '';

const update = (route: BoardsRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/:id`,
    audience: 'user',
    address: oneBoard,
    fields: boardFields,
    find: async (visit, address) => await findBoardToChange(route, visit, address),
    fromSent: (sent) => readTexts(sent, Object.keys(boardFields)),
    run: async ({ call }, { place, board, path }, params, typed) => {
      const { name, show_open, show_closed, labels = '', assignee = '', milestone = '' } = params;
      const assignee_id = isEmpty(assignee) ? null : await findUserId(call, assignee);
      const milestone_id = isEmpty(milestone) ? null : await findMilestoneId(call, place, milestone);
      await updateBoard(call, place, board.id, {
        name,
        hide_backlog_list: !show_open,
        hide_closed_list: !show_closed,
        labels: labels.split(',').map((title) => title.trim()),
        assignee_id,
        milestone_id,
        ...boardGuard.check(params.base, fromTexts(typed)),
      });
      return redirect(path, 'The board was saved.');
    },
    view: async (visit, { place, board }, state) =>
      await editBoardView(visit, place, board, { part: 'board', ...state }),
  });

const basisOf = async (
  call: Call,
  place: BoardsPlace,
  { label, assignee, milestone }: { label: string; assignee: string; milestone: string },
): Promise<NewList> => {
  if (label !== '') return { label_id: await findLabelId(call, place, label) };
  if (assignee !== '') return { assignee_id: await findUserId(call, assignee) };
  return { milestone_id: await findMilestoneId(call, place, milestone) };
};

const listFields = {
  label: optional(longText()),
  assignee: optional(text()),
  milestone: optional(text()),
  /** The form is on the board, not on its settings. */
  on_board: boolean({ default: false }),
  ...returnParams,
};

const kinds = ['label', 'assignee', 'milestone'] as const;

const addList = (route: BoardsRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/:id/lists`,
    audience: 'user',
    address: oneBoard,
    fields: listFields,
    find: async (visit, address) => await findBoardToChange(route, visit, address),
    fromSent: (sent) => readTexts(sent, Object.keys(listFields)),
    toProblems: ({ text: problem, fields }) => ({
      text: problem,
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, problems]) => [name.replace(/_id$/, ''), problems]),
      ),
    }),
    run: async ({ call }, { place, board, path }, { query, on_board, ...params }) => {
      const { label = '', assignee = '', milestone = '' } = params;
      await createList(call, place, board.id, await basisOf(call, place, { label, assignee, milestone }));
      return redirect(on_board ? backTo(path, query) : `${path}/edit`, 'The list was added.');
    },
    view: async (visit, { place, board }, state) => {
      const { values } = state;
      const part = kinds.find((kind) => values[kind] !== '') ?? 'milestone';
      const back = values['on_board'] === '1' ? { query: values['query'] ?? '' } : {};
      return await editBoardView(visit, place, board, { part, ...state, ...back });
    },
  });

const listEditFields = {
  position: optional(integer({ minimum: 0, maximum: 1_000 })),
  max_issue_count: optional(integer({ minimum: 0, maximum: 1_000_000 })),
  ...baseField,
};

const changeList = (route: BoardsRoute): AnyPage =>
  formPage({
    path: `${route.routePath}/:id/lists/:list_id`,
    audience: 'user',
    address: { ...oneBoard, list_id: id() },
    fields: listEditFields,
    find: async (visit, address) => {
      const found = await findBoardToChange(route, visit, address);
      return { ...found, list: findList(found.board, address.list_id) };
    },
    fromSent: (sent) => readTexts(sent, ['list_id', ...Object.keys(listEditFields)]),
    run: async ({ call }, { place, board, list, path }, { position, max_issue_count, base }, typed) => {
      const check =
        position === undefined
          ? limitGuard(list).check(base, { limit: typed['max_issue_count'] ?? '' })
          : orderGuard.check(base, orderWith(board, list, position));
      await updateList(
        call,
        place,
        { boardId: board.id, listId: list.id },
        {
          ...(position !== undefined && { position }),
          ...(max_issue_count !== undefined && { max_issue_count }),
          ...check,
        },
      );
      return redirect(`${path}/edit`, 'The list was saved.');
    },
    view: async (visit, { place, board }, state) =>
      await editBoardView(visit, place, board, { part: 'list', ...state }),
  });

const removeList = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/lists/:list_id/delete`,
    audience: 'user',
    params: object({ ...placeParams, id: id(), list_id: id() }),
    handle: async (visit, params) => {
      const { place, board, path } = await findBoardToChange(route, visit, params);
      await deleteList(visit.call, place, { boardId: board.id, listId: params.list_id });
      return redirect(`${path}/edit`, 'The list was removed.');
    },
  });

const edit = (route: BoardsRoute): AnyPage =>
  page({
    method: 'GET',
    path: `${route.routePath}/:id/edit`,
    audience: 'user',
    params: object(oneBoard),
    handle: async (visit, params) => {
      const { place, board } = await findBoardToChange(route, visit, params);
      return await editBoardView(visit, place, board);
    },
  });

const remove = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/delete`,
    audience: 'user',
    params: object(oneBoard),
    handle: async (visit, params) => {
      const { place, board } = await findBoardToChange(route, visit, params);
      await deleteBoard(visit.call, place, board.id);
      return redirect(place.path, `The board ${board.name} was deleted.`);
    },
  });

export const editPages = (route: BoardsRoute): AnyPage[] => [
  edit(route),
  update(route),
  remove(route),
  addList(route),
  changeList(route),
  removeList(route),
];
