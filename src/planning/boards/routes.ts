/** Endpoints of boards of projects and groups, the same under both paths. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { loadFullNames } from '../../identity/namespaces/full_names.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, clearable, id, longText, names, object, optional } from '../../platform/http/schema.ts';
import { createBoard, deleteBoard, updateBoard } from './change.ts';
import { boardJson, boardShape } from './json.ts';
import { listRoutes } from './lists/routes.ts';
import type { BoardOwner } from './owner.ts';
import { type Board, findBoard, listBoards } from './queries.ts';
import { type Side, oneBoard, side } from './endpoint_parts.ts';

const name = longText('at most 255 characters');
const edits = {
  name: optional(name),
  hide_backlog_list: optional(boolean({ description: 'hide the list of open issues' })),
  hide_closed_list: optional(boolean({ description: 'hide the list of closed issues' })),
  assignee_id: optional(clearable(id('only issues of this assignee; 0: all'))),
  milestone_id: optional(clearable(id('only issues of this milestone; 0: all'))),
  labels: optional(names({ description: 'only issues with these labels; empty: all' })),
};

/** Renders boards of one owner, with one statement for the names of groups. */
const render = async (call: Call, place: BoardOwner, boards: readonly Board[]) => {
  const namespace =
    place.project === null
      ? undefined
      : await call.db
          .selectFrom('namespaces')
          .select(['id', 'name', 'parent_id'])
          .where('id', '=', place.project.namespace_id)
          .executeTakeFirst();
  const fullNames =
    namespace === undefined ? new Map<number, string>() : await loadFullNames(call.db, [namespace]);
  const { baseUrl, settings, now } = call;
  const namespaceName = fullNames.get(namespace?.id ?? 0) ?? '';
  return boards.map((board) => boardJson(board, place, { baseUrl, settings, now, namespaceName }));
};

const renderOne = async (call: Call, place: BoardOwner, board: Board) =>
  (await render(call, place, [board]))[0];

const listAll = ({ noun, boards, shared, owner, toRead }: Side) =>
  endpoint({
    method: 'GET',
    path: boards,
    summary: `List issue boards of a ${noun}`,
    ...shared,
    list: true,
    params: object({ ...owner, ...pageParams }),
    reply: boardShape,
    handle: async (call, params) => {
      const place = await toRead(call, params.id);
      const { items, total } = await listBoards(call.db, place.owner, pageRequest(params));
      return { items: await render(call, place, items), total };
    },
  });

const create = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'POST',
    path: boards,
    summary: `Create an issue board of a ${noun}`,
    ...shared,
    params: object({ ...owner, name }),
    reply: boardShape,
    handle: async (call, params) => {
      const place = await toChange(call, params.id);
      return await renderOne(call, place, await createBoard(call, place, params));
    },
  });

const get = ({ noun, boards, shared, owner, toRead }: Side) =>
  endpoint({
    method: 'GET',
    path: `${boards}/:board_id`,
    summary: `Get an issue board of a ${noun}`,
    ...shared,
    params: object({ ...owner, ...oneBoard }),
    reply: boardShape,
    handle: async (call, params) => {
      const place = await toRead(call, params.id);
      return await renderOne(call, place, await findBoard(call.db, place.owner, params.board_id));
    },
  });

const update = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'PUT',
    path: `${boards}/:board_id`,
    summary: `Update an issue board of a ${noun}`,
    ...shared,
    params: object({ ...owner, ...oneBoard, ...edits }),
    reply: boardShape,
    handle: async (call, { id: ownerId, board_id, ...edit }) => {
      const place = await toChange(call, ownerId);
      const board = await findBoard(call.db, place.owner, board_id);
      if (Object.values(edit).every((value) => value === undefined))
        throw nothingToChange(Object.keys(edits));
      return await renderOne(call, place, await updateBoard(call, place, board.id, edit));
    },
  });

const remove = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'DELETE',
    path: `${boards}/:board_id`,
    summary: `Delete an issue board of a ${noun}`,
    ...shared,
    params: object({ ...owner, ...oneBoard }),
    reply: null,
    handle: async (call, params) => await deleteBoard(call, await toChange(call, params.id), params.board_id),
  });

export const boardRoutes = [side('projects'), side('groups')].flatMap((one) => [
  listAll(one),
  create(one),
  get(one),
  update(one),
  remove(one),
  ...listRoutes(one),
]);
