/** Adds, moves, limits and removes the lists of a board. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { badRequest, invalid, refused } from '../../../platform/errors.ts';
import { type Checked, requireUnmodified } from '../../../platform/http/precondition.ts';
import { getNextUpdateTime } from '../../../platform/time.ts';
import type { BoardOwner } from '../owner.ts';
import { type Board, type BoardList, findBoard, findList, lockBoard } from '../queries.ts';
import { checkAssignee, checkLabel, checkMilestone } from '../check_scope.ts';

const maxLists = 50;

const names = ['label_id', 'assignee_id', 'milestone_id'] as const;
type Name = (typeof names)[number];

export type NewList = { [N in Name]?: number } & { max_issue_count?: number };

/** Returns what the issues of a list have in common. @throws Failure 400 unless it is exactly one thing */
const readBasis = (input: NewList): { name: Name; id: number } => {
  const bases = names.flatMap((name) => {
    const id = input[name];
    return id === undefined ? [] : [{ name, id }];
  });
  const [basis] = bases;
  if (basis === undefined || bases.length > 1) {
    throw badRequest(`exactly one of ${names.join(', ')} must be given`);
  }
  return basis;
};

const check = async (tx: Tx, place: BoardOwner, { name, id }: { name: Name; id: number }): Promise<void> => {
  if (name === 'label_id') await checkLabel(tx.db, place.owner, id);
  else if (name === 'milestone_id') await checkMilestone(tx.db, place.owner, id);
  else await checkAssignee(tx, place, id);
};

const touch = async (tx: Tx, call: Call, board: Board, change: { list_id: number; action: string }) => {
  const updated_at = getNextUpdateTime(board, tx.now);
  await tx.db.updateTable('boards').set({ updated_at }).where('id', '=', board.id).execute();
  await recordEvent(tx, requireActor(call), {
    kind: 'board.updated',
    project_id: board.project_id,
    target_type: 'Board',
    target_id: board.id,
    data: { ...change, ...(board.group_id !== null && { group_id: board.group_id }) },
  });
};

/**
 * Adds a list after the others.
 * @throws Failure 400 unless exactly one label, user or milestone of the owner is given that the board does not have
 */
export const createList = async (
  call: Call,
  place: BoardOwner,
  boardId: number,
  input: NewList,
): Promise<BoardList> => {
  const basis = readBasis(input);
  return await call.write(async (tx) => {
    const board = await lockBoard(tx, place.owner, boardId);
    await check(tx, place, basis);
    if (board.lists.some((list) => list[basis.name] === basis.id)) {
      throw invalid({ [basis.name]: ['has already been taken'] });
    }
    if (board.lists.length >= maxLists) {
      throw invalid({ base: [`Maximum number of lists (${maxLists}) exceeded`] });
    }
    const id = await insertRow(tx.db, 'board_lists', {
      board_id: boardId,
      label_id: null,
      assignee_id: null,
      milestone_id: null,
      [basis.name]: basis.id,
      position: (await lastPosition(tx, boardId)) + 1,
      max_issue_count: input.max_issue_count ?? 0,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await touch(tx, call, board, { list_id: id, action: 'list_created' });
    return findList(await findBoard(tx.db, place.owner, boardId), id);
  });
};

const lastPosition = async (tx: Tx, boardId: number): Promise<number> => {
  const { last } = await tx.db
    .selectFrom('board_lists')
    .select((is) => is.fn.max('position').as('last'))
    .where('board_id', '=', boardId)
    .executeTakeFirstOrThrow();
  return last ?? -1;
};

export type ListEdit = { position?: number; max_issue_count?: number };

/** Stores the order of the lists: each at its place from 0. */
const storeOrder = async (tx: Tx, lists: readonly BoardList[]): Promise<void> => {
  for (const [position, { id }] of lists.entries()) {
    await tx.db.updateTable('board_lists').set({ position }).where('id', '=', id).execute();
  }
};

/**
 * Moves a list to another place, and sets its limit.
 * @throws Failure 404 for a list of another board, 400 for a place that the board does not have
 */
export const updateList = async (
  call: Call,
  place: BoardOwner,
  { boardId, listId }: { boardId: number; listId: number },
  { position, max_issue_count, check: checkBoard }: Checked<ListEdit, Board>,
): Promise<BoardList> =>
  await call.write(async (tx) => {
    const board = await lockBoard(tx, place.owner, boardId);
    checkBoard?.(board);
    const list = findList(board, listId);
    if (position !== undefined) {
      if (position >= board.lists.length) throw refused('List could not be moved!');
      const others = board.lists.filter((one) => one !== list);
      await storeOrder(tx, others.toSpliced(position, 0, list));
    }
    const set = { ...(max_issue_count !== undefined && { max_issue_count }), updated_at: tx.now };
    await tx.db.updateTable('board_lists').set(set).where('id', '=', listId).execute();
    await touch(tx, call, board, { list_id: listId, action: 'list_updated' });
    return findList(await findBoard(tx.db, place.owner, boardId), listId);
  });

/** Removes a list. Its issues stay as they are. @throws Failure 404 for a list of another board */
export const deleteList = async (
  call: Call,
  { owner }: BoardOwner,
  { boardId, listId }: { boardId: number; listId: number },
): Promise<void> => {
  await call.write(async (tx) => {
    const board = await lockBoard(tx, owner, boardId);
    const list = findList(board, listId);
    requireUnmodified(call.header('if-unmodified-since'), list.updated_at);
    await tx.db.deleteFrom('board_lists').where('id', '=', listId).execute();
    await storeOrder(
      tx,
      board.lists.filter((one) => one !== list),
    );
    await touch(tx, call, board, { list_id: listId, action: 'list_deleted' });
  });
};
