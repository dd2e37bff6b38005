/** Endpoints of the lists of boards. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { nothingToChange } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, integer, object, optional, unavailable } from '../../../platform/http/schema.ts';
import { listJson, listShape } from '../json.ts';
import { findBoard, findList } from '../queries.ts';
import { type Side, maxNumber, max_issue_count, oneBoard } from '../endpoint_parts.ts';
import { createList, deleteList, updateList } from './change.ts';

const oneList = { ...oneBoard, list_id: id('id of the list') };

const listLists = ({ noun, boards, shared, owner, toRead }: Side) =>
  endpoint({
    method: 'GET',
    path: `${boards}/:board_id/lists`,
    summary: `List the lists of an issue board of a ${noun}`,
    ...shared,
    list: true,
    params: object({ ...owner, ...oneBoard, ...pageParams }),
    reply: listShape,
    handle: async (call, params) => {
      const { lists } = await findBoard(call.db, (await toRead(call, params.id)).owner, params.board_id);
      const { offset, limit } = pageRequest(params);
      const items = lists.slice(offset, offset + limit).map((list) => listJson(list, call));
      return { items, total: lists.length };
    },
  });

const addList = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'POST',
    path: `${boards}/:board_id/lists`,
    summary: `Add a list to an issue board of a ${noun}: of a label, an assignee or a milestone`,
    ...shared,
    params: object({
      ...owner,
      ...oneBoard,
      label_id: optional(id('id of a label')),
      assignee_id: optional(id('id of a user')),
      milestone_id: optional(id('id of a milestone')),
      iteration_id: unavailable(),
      max_issue_count,
    }),
    reply: listShape,
    handle: async (call, { id: ownerId, board_id, ...params }) => {
      const place = await toChange(call, ownerId);
      return listJson(await createList(call, place, board_id, params), call);
    },
  });

const getList = ({ noun, boards, shared, owner, toRead }: Side) =>
  endpoint({
    method: 'GET',
    path: `${boards}/:board_id/lists/:list_id`,
    summary: `Get a list of an issue board of a ${noun}`,
    ...shared,
    params: object({ ...owner, ...oneList }),
    reply: listShape,
    handle: async (call, params) => {
      const { owner: of } = await toRead(call, params.id);
      return listJson(findList(await findBoard(call.db, of, params.board_id), params.list_id), call);
    },
  });

const changeList = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'PUT',
    path: `${boards}/:board_id/lists/:list_id`,
    summary: `Move a list of an issue board of a ${noun}, or set its limit`,
    ...shared,
    params: object({
      ...owner,
      ...oneList,
      position: optional(
        integer({ minimum: 0, maximum: maxNumber, description: 'position among the lists, starting at 0' }),
      ),
      max_issue_count,
    }),
    reply: listShape,
    handle: async (call, { id: ownerId, board_id, list_id, ...edit }) => {
      const place = await toChange(call, ownerId);
      const list = findList(await findBoard(call.db, place.owner, board_id), list_id);
      if (edit.position === undefined && edit.max_issue_count === undefined) {
        throw nothingToChange(['position', 'max_issue_count']);
      }
      return listJson(await updateList(call, place, { boardId: board_id, listId: list.id }, edit), call);
    },
  });

const removeList = ({ noun, boards, shared, owner, toChange }: Side) =>
  endpoint({
    method: 'DELETE',
    path: `${boards}/:board_id/lists/:list_id`,
    summary: `Remove a list from an issue board of a ${noun}; its issues stay`,
    ...shared,
    params: object({ ...owner, ...oneList }),
    reply: null,
    handle: async (call, { id: ownerId, board_id, list_id }) => {
      const place = await toChange(call, ownerId);
      await deleteList(call, place, { boardId: board_id, listId: list_id });
    },
  });

export const listRoutes = (side: Side) => [
  listLists(side),
  addList(side),
  getList(side),
  changeList(side),
  removeList(side),
];
