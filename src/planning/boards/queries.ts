/** Loads boards with their lists, in a fixed number of statements. */
import { type Selectable, sql } from 'kysely';
import { type BasicUserRow, basicUsersById } from '../../identity/users/json.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { BoardListsTable, BoardsTable } from '../../platform/db/schema/planning.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { LabelRow } from '../../projects/labels/label_row.ts';
import { type Owner, availableTo } from '../../projects/project_or_group/owner.ts';
import { type MilestoneRow, milestoneOwnerPath } from '../../projects/milestones/json.ts';

export type BoardRow = Selectable<BoardsTable>;
export type BoardListRow = Selectable<BoardListsTable>;

/** A list with the record that its issues have in common. `position` counts the lists of the board from 0. */
export type BoardList = BoardListRow & {
  label: LabelRow | null;
  assignee: BasicUserRow | null;
  milestone: MilestoneRow | null;
};

export type Board = BoardRow & {
  lists: BoardList[];
  /** All of these an issue of the board has. */
  labels: LabelRow[];
  milestone: MilestoneRow | null;
  assignee: BasicUserRow | null;
};

const ownedBoards = (db: Reader, owner: Owner) =>
  db.selectFrom('boards').where(owner.kind === 'projects' ? 'project_id' : 'group_id', '=', owner.id);

const byId = <R extends { id: number }>(rows: readonly R[]): Map<number, R> =>
  new Map(rows.map((row) => [row.id, row]));

const listIds = (rows: readonly { [name: string]: unknown }[], name: string): number[] => [
  ...new Set(rows.map((row) => row[name]).filter((id) => typeof id === 'number')),
];

/** Loads the labels that the owner can use: boards keep none of a group that they left. */
const loadLabels = async (db: Reader, owner: Owner, ids: number[]): Promise<Map<number, LabelRow>> =>
  ids.length === 0
    ? new Map()
    : byId(
        await db
          .selectFrom('labels')
          .selectAll()
          .where('id', 'in', ids)
          .where(availableTo('labels', owner))
          .execute(),
      );

const loadMilestones = async (db: Reader, owner: Owner, ids: number[]): Promise<Map<number, MilestoneRow>> =>
  ids.length === 0
    ? new Map()
    : byId(
        await db
          .selectFrom('milestones')
          .selectAll()
          .select(milestoneOwnerPath().as('owner_path'))
          .where('id', 'in', ids)
          .where(availableTo('milestones', owner))
          .execute(),
      );

const selectLists = async (db: Reader, boardIds: readonly number[]): Promise<BoardListRow[]> =>
  await db
    .selectFrom('board_lists')
    .selectAll()
    .where('board_id', 'in', boardIds)
    .orderBy('board_id')
    .orderBy('position')
    .orderBy('id')
    .execute();

/** Returns whether the record of a list still exists. */
const isWhole = ({ label, assignee, milestone }: BoardList): boolean =>
  label !== null || assignee !== null || milestone !== null;

/** Adds to boards of one owner what they consist of. */
const completeBoards = async (db: Reader, owner: Owner, rows: BoardRow[]): Promise<Board[]> => {
  if (rows.length === 0) return [];
  const boardIds = rows.map(({ id }) => id);
  const lists = await selectLists(db, boardIds);
  const scope = await db
    .selectFrom('board_labels')
    .selectAll()
    .where('board_id', 'in', boardIds)
    .orderBy('label_id')
    .execute();
  const labels = await loadLabels(db, owner, [...listIds(lists, 'label_id'), ...listIds(scope, 'label_id')]);
  const milestones = await loadMilestones(db, owner, [
    ...listIds(lists, 'milestone_id'),
    ...listIds(rows, 'milestone_id'),
  ]);
  const users = await basicUsersById(db, [...listIds(lists, 'assignee_id'), ...listIds(rows, 'assignee_id')]);
  const complete = lists.map((list) => ({
    ...list,
    label: labels.get(list.label_id ?? 0) ?? null,
    assignee: users.get(list.assignee_id ?? 0) ?? null,
    milestone: milestones.get(list.milestone_id ?? 0) ?? null,
  }));
  return rows.map((row) => ({
    ...row,
    lists: complete
      .filter((list) => list.board_id === row.id && isWhole(list))
      .map((list, position) => ({ ...list, position })),
    labels: scope.flatMap((link) => (link.board_id === row.id ? (labels.get(link.label_id) ?? []) : [])),
    milestone: milestones.get(row.milestone_id ?? 0) ?? null,
    assignee: users.get(row.assignee_id ?? 0) ?? null,
  }));
};

/** Lists the boards of an owner, oldest first. */
export const listBoards = async (
  db: Reader,
  owner: Owner,
  { limit, offset }: PageRequest,
): Promise<Page<Board>> => {
  const query = ownedBoards(db, owner);
  const { total } = await query
    .select((is) => is.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query.selectAll().orderBy('id').limit(limit).offset(offset).execute();
  return { items: await completeBoards(db, owner, rows), total };
};

/** Loads a board of the owner. @throws Failure 404 for any other */
export const findBoard = async (db: Reader, owner: Owner, id: number): Promise<Board> => {
  const row = await ownedBoards(db, owner).selectAll().where('id', '=', id).executeTakeFirst();
  const [board] = row === undefined ? [] : await completeBoards(db, owner, [row]);
  if (board === undefined) throw notFound();
  return board;
};

/** Loads the names of an owner's boards, at most so many, oldest first. */
export const boardNames = async (
  db: Reader,
  owner: Owner,
  limit: number,
): Promise<{ id: number; name: string }[]> =>
  await ownedBoards(db, owner).select(['id', 'name']).orderBy('id').limit(limit).execute();

/** Finds a list of a board. @throws Failure 404 for any other */
export const findList = ({ lists }: Board, id: number): BoardList => {
  const list = lists.find((one) => one.id === id);
  if (list === undefined) throw notFound();
  return list;
};

/**
 * Locks a board, so that one transaction at a time changes its lists, and loads it. @throws Failure 404 if it was
 * deleted meanwhile
 */
export const lockBoard = async (tx: Tx, owner: Owner, id: number): Promise<Board> => {
  await sql`select id from boards where id = ${id} ${tx.dialect.forUpdate}`.execute(tx.db);
  return await findBoard(tx.db, owner, id);
};
