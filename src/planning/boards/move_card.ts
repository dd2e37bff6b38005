/** Moves an issue between the columns of a board, or within one, as GitLab does. */
import type { Call } from '../../core/access/call.ts';
import { requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, notFound, refused } from '../../platform/errors.ts';
import { type LoadedIssue, findIssue } from '../issues/find.ts';
import { issueNoun } from '../issues/noun.ts';
import type { Neighbours } from '../issues/positions/place_issue.ts';
import { checkNeighbours, reorderIssue, reorderLocked } from '../issues/positions/reorder.ts';
import { type IssueEdit, updateIssue } from '../issues/update.ts';
import { type BoardColumn, type ColumnKey, listColumns, idsOfLists } from './columns/columns.ts';
import type { BoardOwner } from './owner.ts';
import type { Board, BoardList } from './queries.ts';

export type CardMove = {
  /** Id of the issue. */
  issue: number;
  from: ColumnKey;
  to: ColumnKey;
  /** Ids of the issues between which it is put; both null if it keeps its place. */
  neighbours: Neighbours;
};

/** Loads an issue by id, if the caller may see it and it belongs to the owner of the board. @throws Failure 404 */
const findCard = async (call: Call, { project, group }: BoardOwner, id: number): Promise<LoadedIssue> => {
  const row = await call.db
    .selectFrom('issues')
    .select(['project_id', 'iid'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  const loaded = await findIssue(call, row.project_id, row.iid);
  const isHere =
    project === null
      ? loaded.project.full_path.toLowerCase().startsWith(`${group.full_path.toLowerCase()}/`)
      : loaded.project.id === project.id;
  if (!isHere) throw notFound();
  return loaded;
};

const findColumn = (board: Board, key: ColumnKey): BoardColumn => {
  const column = listColumns(board).find((one) => one.key === key);
  if (column === undefined) throw refused('The board has no such column any more');
  return column;
};

const stateEvent = ({ issue }: LoadedIssue, to: BoardColumn): Pick<IssueEdit, 'state_event'> => {
  const state = to.key === 'closed' ? 'closed' : 'opened';
  if (issue.state === state) return {};
  return { state_event: state === 'closed' ? 'close' : 'reopen' };
};

const listOfOne = (id: number | null = null): number[] => (id === null ? [] : [id]);

/**
 * If an issue leaves the lists, labels of all lists are removed; otherwise only the label of a list of the same kind.
 */
const labelEdit = (board: Board, from: BoardList | null, to: BoardColumn): IssueEdit => {
  const add_label_ids = listOfOne(to.list?.label_id);
  const left = add_label_ids.length === 0 ? [] : listOfOne(from?.label_id);
  const remove_label_ids = to.list === null ? idsOfLists(board).label_ids : left;
  return {
    ...(add_label_ids.length > 0 && { add_label_ids }),
    ...(remove_label_ids.length > 0 && { remove_label_ids: [...remove_label_ids] }),
  };
};

const assigneeEdit = ({ target }: LoadedIssue, from: BoardList | null, to: BoardColumn): IssueEdit => {
  const before = target.assignee_ids;
  const added = to.list?.assignee_id ?? null;
  const leaves = added !== null || to.key === 'open';
  const kept = leaves ? before.filter((id) => id !== from?.assignee_id) : before;
  const after = added === null || kept.includes(added) ? kept : [...kept, added];
  return after.join() === before.join() ? {} : { assignee_ids: after };
};

const milestoneEdit = (from: BoardList | null, to: BoardColumn): IssueEdit => {
  const milestone_id = to.list?.milestone_id ?? null;
  if (milestone_id !== null) return { milestone_id };
  return to.key === 'open' && (from?.milestone_id ?? null) !== null ? { milestone_id: null } : {};
};

/** Returns the edit of a move between two columns. */
const toEdit = (board: Board, locked: LoadedIssue, from: BoardList | null, to: BoardColumn): IssueEdit => ({
  ...labelEdit(board, from, to),
  ...assigneeEdit(locked, from, to),
  ...milestoneEdit(from, to),
  ...stateEvent(locked, to),
});

const carriesAny = async (
  { db }: Call,
  { issue }: LoadedIssue,
  labelIds: readonly number[],
): Promise<boolean> => {
  if (labelIds.length === 0) return false;
  const carried = await db
    .selectFrom('label_links')
    .select('label_id')
    .where('target_type', '=', 'Issue')
    .where('target_id', '=', issue.id)
    .where('label_id', 'in', labelIds)
    .executeTakeFirst();
  return carried !== undefined;
};

/**
 * Authors and assignees without a role may close, which keeps the labels, and reopen an issue that has no label to
 * lose. GitLab lets them do both on the page of the issue only.
 */
const checkMove = async (call: Call, loaded: LoadedIssue, edit: IssueEdit): Promise<void> => {
  if (edit.state_event === 'close' || may(call.viewer, 'admin_issue', loaded.project)) return;
  const { state_event: _state, remove_label_ids = [], ...administered } = edit;
  const needsRole =
    Object.keys(administered).length > 0 || (await carriesAny(call, loaded, remove_label_ids));
  if (needsRole) throw forbidden();
};

const hasNeighbours = ({ above, below }: Neighbours): boolean => above !== null || below !== null;

/**
 * Moves an issue to another column or position. The label, assignee or milestone of the column it leaves is removed and
 * that of the new column is added; the closed column closes it. All in one transaction.
 * @throws Failure 404 for an issue that is hidden or not on this board, 403 without permission, 400 for a missing
 * column, 422 for a missing neighbour
 */
export const moveCard = async (
  call: Call,
  place: BoardOwner,
  board: Board,
  { issue, from, to, neighbours }: CardMove,
): Promise<void> => {
  const loaded = await findCard(call, place, issue);
  if (!issueNoun.mayUpdate(call, loaded)) throw forbidden();
  const target = findColumn(board, to);
  const isPlaced = to !== 'closed' && hasNeighbours(neighbours);
  if (from === to) {
    if (isPlaced) await reorderIssue(call, loaded, neighbours);
    return;
  }
  const source = board.lists.find(({ id }) => id === from) ?? null;
  await checkMove(call, loaded, toEdit(board, loaded, source, target));
  if (isPlaced) await checkNeighbours(call, loaded, neighbours);
  await updateIssue(
    call,
    loaded,
    (locked) => toEdit(board, locked, source, target),
    async (locked, tx) => {
      if (isPlaced) await reorderLocked(tx, requireActor(call), locked, neighbours);
    },
  );
};
