/** The columns of a board: its lists, between the open issues that are in none of them and the closed issues. Pure. */
import type { RecordIds } from '../../issuables/lists/filter_params.ts';
import type { Filters } from '../../issues/lists/filters.ts';
import type { Board, BoardList } from '../queries.ts';

/** Names a column in addresses and forms: `open`, `closed`, or the id of a list. */
export type ColumnKey = 'open' | 'closed' | number;

export type BoardColumn = { key: ColumnKey; list: BoardList | null };

const isId = (id: number | null): id is number => id !== null;

/** Labels, users and milestones of the lists of a board. */
export const idsOfLists = ({ lists }: Pick<Board, 'lists'>): RecordIds => ({
  label_ids: lists.map(({ label_id }) => label_id).filter(isId),
  assignee_ids: lists.map(({ assignee_id }) => assignee_id).filter(isId),
  milestone_ids: lists.map(({ milestone_id }) => milestone_id).filter(isId),
});

/** Returns the labels, the assignee and the milestone that all issues of a board have. */
const toScope = ({ labels, assignee, milestone }: Board): RecordIds => ({
  label_ids: labels.map(({ id }) => id),
  assignee_ids: assignee === null ? [] : [assignee.id],
  milestone_ids: milestone === null ? [] : [milestone.id],
});

const isAny = ({ label_ids, assignee_ids, milestone_ids }: RecordIds): boolean =>
  label_ids.length + assignee_ids.length + milestone_ids.length > 0;

const joined = (one: RecordIds, other: RecordIds): RecordIds => ({
  label_ids: [...one.label_ids, ...other.label_ids],
  assignee_ids: [...one.assignee_ids, ...other.assignee_ids],
  milestone_ids: [...one.milestone_ids, ...other.milestone_ids],
});

/** Returns the columns that a board shows, in their order. */
export const listColumns = (board: Board): BoardColumn[] => [
  ...(board.hide_backlog_list === 1 ? [] : [{ key: 'open' as const, list: null }]),
  ...board.lists.map((list) => ({ key: list.id, list })),
  ...(board.hide_closed_list === 1 ? [] : [{ key: 'closed' as const, list: null }]),
];

/** Filters of a board's issues, of one state. */
export const boardFilters = (board: Board, filters: Filters, state: 'opened' | 'closed'): Filters => ({
  ...filters,
  ...(board.group_id !== null && { non_archived: true }),
  state,
  ...(isAny(toScope(board)) && { having: toScope(board) }),
});

/** Filters of one column. Closed issues are ordered by their last change, all others by hand. */
export const columnFilters = (board: Board, { key, list }: BoardColumn, filters: Filters): Filters => {
  const base = boardFilters(board, filters, key === 'closed' ? 'closed' : 'opened');
  if (key === 'closed') return { ...base, order_by: 'updated_at', sort: 'desc' };
  const ordered = { ...base, order_by: 'relative_position', sort: 'asc' } as const;
  if (list === null && !isAny(idsOfLists(board))) return ordered;
  return list === null
    ? { ...ordered, without: idsOfLists(board) }
    : { ...ordered, having: joined(toScope(board), idsOfLists({ lists: [list] })) };
};
