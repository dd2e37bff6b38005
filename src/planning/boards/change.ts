/** Creates, edits and deletes boards. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { insertRow, insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { requireRecordQuota } from '../../platform/db/quota.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { invalid } from '../../platform/errors.ts';
import { type Checked, requireUnmodified } from '../../platform/http/precondition.ts';
import { getNextUpdateTime } from '../../platform/time.ts';
import { ownerColumns, ownerTurn } from '../../projects/project_or_group/owner.ts';
import type { BoardOwner } from './owner.ts';
import { type Board, type BoardRow, findBoard, lockBoard } from './queries.ts';
import { checkAssignee, checkMilestone, findScopeLabels } from './check_scope.ts';

const maxNameLength = 255;
const quota = { what: 'boards', most: 100 };

/** Trims and checks a name. @throws Failure 400 for one that is blank or too long */
const checkName = (text: string): string => {
  const name = text.trim();
  if (name === '') throw invalid({ name: ["can't be blank"] });
  if ([...name].length > maxNameLength) {
    throw invalid({ name: [`is too long (maximum is ${maxNameLength} characters)`] });
  }
  return name;
};

const record = async (tx: Tx, call: Call, verb: string, board: BoardRow): Promise<void> => {
  const { id, name, project_id, group_id } = board;
  await recordEvent(tx, requireActor(call), {
    kind: `board.${verb}`,
    project_id,
    target_type: 'Board',
    target_id: id,
    data: { name, ...(group_id !== null && { group_id }) },
  });
};

/** @throws Failure 400 for an invalid name, or if the owner has too many boards */
export const createBoard = async (call: Call, place: BoardOwner, input: { name: string }): Promise<Board> => {
  const { owner } = place;
  const name = checkName(input.name);
  return await call.write(async (tx) => {
    const columns = ownerColumns(owner);
    await requireRecordQuota(
      tx.db.selectFrom('boards').where(owner.kind === 'projects' ? 'project_id' : 'group_id', '=', owner.id),
      quota,
    );
    const times = { created_at: tx.now, updated_at: tx.now };
    const row = { ...columns, name, milestone_id: null, assignee_id: null, ...times };
    const id = await insertRow(tx.db, 'boards', row);
    const board = await findBoard(tx.db, owner, id);
    await record(tx, call, 'created', board);
    return board;
  }, ownerTurn(owner));
};

export type BoardEdit = {
  name?: string;
  hide_backlog_list?: boolean;
  hide_closed_list?: boolean;
  /** null or 0: none. */
  assignee_id?: number | null;
  milestone_id?: number | null;
  /** Titles; empty: none. */
  labels?: string[];
};

const storeLabels = async (tx: Tx, boardId: number, labelIds: readonly number[]): Promise<void> => {
  await tx.db.deleteFrom('board_labels').where('board_id', '=', boardId).execute();
  const rows = labelIds.map((label_id) => ({ board_id: boardId, label_id }));
  if (rows.length > 0) await insertRows(tx.db, 'board_labels', rows);
};

const toColumns = (edit: BoardEdit): Partial<BoardRow> => {
  const { name, hide_backlog_list, hide_closed_list, assignee_id, milestone_id } = edit;
  return {
    ...(name !== undefined && { name: checkName(name) }),
    ...(hide_backlog_list !== undefined && { hide_backlog_list: toFlag(hide_backlog_list) }),
    ...(hide_closed_list !== undefined && { hide_closed_list: toFlag(hide_closed_list) }),
    ...(assignee_id !== undefined && { assignee_id: assignee_id === 0 ? null : assignee_id }),
    ...(milestone_id !== undefined && { milestone_id: milestone_id === 0 ? null : milestone_id }),
  };
};

/**
 * Changes the name of a board, which of its two fixed columns it shows, and which issues it is about.
 * @throws Failure 400 for an invalid name, or for a milestone, user or label that the owner does not have
 */
export const updateBoard = async (
  call: Call,
  place: BoardOwner,
  id: number,
  edit: Checked<BoardEdit, Board>,
): Promise<Board> => {
  const { owner } = place;
  const set = toColumns(edit);
  return await call.write(async (tx) => {
    const before = await lockBoard(tx, owner, id);
    edit.check?.(before);
    if (typeof set.milestone_id === 'number') await checkMilestone(tx.db, owner, set.milestone_id);
    if (typeof set.assignee_id === 'number') await checkAssignee(tx, place, set.assignee_id);
    if (edit.labels !== undefined) {
      await storeLabels(tx, id, await findScopeLabels(tx.db, owner, edit.labels));
    }
    const updated_at = getNextUpdateTime(before, tx.now);
    await tx.db
      .updateTable('boards')
      .set({ ...set, updated_at })
      .where('id', '=', id)
      .execute();
    const board = await findBoard(tx.db, owner, id);
    await record(tx, call, 'updated', board);
    return board;
  });
};

/** Deletes a board with its lists. Its issues stay. @throws Failure 412 if it changed since `If-Unmodified-Since` */
export const deleteBoard = async (call: Call, { owner }: BoardOwner, id: number): Promise<void> => {
  await call.write(async (tx) => {
    const board = await lockBoard(tx, owner, id);
    requireUnmodified(call.header('if-unmodified-since'), board.updated_at);
    await tx.db.deleteFrom('boards').where('id', '=', id).execute();
    await record(tx, call, 'deleted', board);
  });
};
