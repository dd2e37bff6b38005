/** Forms that edit a board and its lists, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { deleteBoard, updateBoard } from '../../../../planning/boards/change.ts';
import {
  type NewList,
  createList,
  deleteList,
  updateList,
} from '../../../../planning/boards/lists/change.ts';
import { type Board, findBoard } from '../../../../planning/boards/queries.ts';
import { Failure, invalid } from '../../../../platform/errors.ts';
import { boolean, id, integer, longText, object, optional, text } from '../../../../platform/http/schema.ts';
import { availableTo } from '../../../../projects/labels/project_or_group.ts';
import { findLabel } from '../../../../projects/labels/queries.ts';
import { type AnyPage, type Visit, page, redirect } from '../../page.ts';
import { attempt } from '../../parts/form.ts';
import { type Tried, editBoardView } from './edit_view.ts';
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
    if (error instanceof Failure && error.kind === 'not_found')
      throw invalid({ label: ['No label has this name'] });
    throw error;
  }
};

const boardParams = {
  name: longText(),
  show_open: boolean({ default: false }),
  show_closed: boolean({ default: false }),
  labels: optional(longText()),
  assignee: optional(text()),
  milestone: optional(text()),
};

const isEmpty = (value: string | null | undefined): boolean => (value ?? '').trim() === '';

const update = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id`,
    audience: 'user',
    params: object({ ...placeParams, id: id(), ...boardParams }),
    handle: async (visit, params) => {
      const { call } = visit;
      const { place, board, path } = await findBoardToChange(route, visit, params);
      const { name, show_open, show_closed, labels = '', assignee = '', milestone = '' } = params;
      const problems = await attempt(async () => {
        const assignee_id = isEmpty(assignee) ? null : await findUserId(call, assignee);
        const milestone_id = isEmpty(milestone) ? null : await findMilestoneId(call, place, milestone);
        await updateBoard(call, place, board.id, {
          name,
          hide_backlog_list: !show_open,
          hide_closed_list: !show_closed,
          labels: labels.split(',').map((title) => title.trim()),
          assignee_id,
          milestone_id,
        });
      });
      if (problems === null) return redirect(path, 'The board was saved.');
      const values = { name, labels, assignee, milestone };
      return await editBoardView(visit, place, board, { part: 'board', values, problems });
    },
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

const addList = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/lists`,
    audience: 'user',
    params: object({
      ...placeParams,
      id: id(),
      label: optional(longText()),
      assignee: optional(text()),
      milestone: optional(text()),
      /** The form is on the board, not on its settings. */
      on_board: boolean({ default: false }),
      ...returnParams,
    }),
    handle: async (visit, params) => {
      const { place, board, path } = await findBoardToChange(route, visit, params);
      const { label = '', assignee = '', milestone = '' } = params;
      const problems = await attempt(async () => {
        const basis = await basisOf(visit.call, place, { label, assignee, milestone });
        await createList(visit.call, place, board.id, basis);
      });
      const back = params.on_board ? backTo(path, params.query) : `${path}/edit`;
      if (problems === null) return redirect(back, 'The list was added.');
      const part: Tried['part'] = label !== '' ? 'label' : assignee !== '' ? 'assignee' : 'milestone';
      const { [`${part}_id`]: taken, ...fields } = problems.fields;
      const shown = { ...problems, fields: { ...fields, ...(taken !== undefined && { [part]: taken }) } };
      const values = { label, assignee, milestone };
      const query = params.on_board ? { query: params.query ?? '' } : {};
      return await editBoardView(visit, place, board, { part, values, problems: shown, ...query });
    },
  });

const changeList = (route: BoardsRoute): AnyPage =>
  page({
    method: 'POST',
    path: `${route.routePath}/:id/lists/:list_id`,
    audience: 'user',
    params: object({
      ...placeParams,
      id: id(),
      list_id: id(),
      position: optional(integer({ minimum: 0, maximum: 1_000 })),
      max_issue_count: optional(integer({ minimum: 0, maximum: 1_000_000 })),
    }),
    handle: async (visit, params) => {
      const { place, board, path } = await findBoardToChange(route, visit, params);
      const { position, max_issue_count, list_id: listId } = params;
      await updateList(
        visit.call,
        place,
        { boardId: board.id, listId },
        {
          ...(position !== undefined && { position }),
          ...(max_issue_count !== undefined && { max_issue_count }),
        },
      );
      return redirect(`${path}/edit`, 'The list was saved.');
    },
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
    params: object({ ...placeParams, id: id() }),
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
    params: object({ ...placeParams, id: id() }),
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
