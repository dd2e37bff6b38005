/** Loads the columns of a board: exact counts, and the first issues of each. */
import type { Call } from '../../../core/access/call.ts';
import type { ColumnCount } from '../../issuables/lists/column_counts.ts';
import type { Version } from '../../issuables/lists/json_cache.ts';
import type { Scope } from '../../issuables/lists/list_kind.ts';
import type { Filters } from '../../issues/lists/filters.ts';
import { countIssuesByColumn, listIssueVersions } from '../../issues/lists/list.ts';
import { countIssues } from '../../issues/lists/statistics.ts';
import type { BoardOwner } from '../owner.ts';
import type { Board, BoardList } from '../queries.ts';
import {
  type BoardColumn,
  type ColumnKey,
  boardFilters,
  columnFilters,
  listColumns,
  idsOfLists,
} from './columns.ts';

export type LoadedColumn = BoardColumn & {
  total: number;
  /** The first issues. */
  versions: Version[];
};

export type ColumnsQuery = {
  filters: Filters;
  /** Filter of issues by person, among the issues of the board's project or group. */
  scope: Scope;
  /** Number of issues that a column shows. */
  limitOf: (key: ColumnKey) => number;
};

export const scopeOfBoard = ({ project, group }: BoardOwner): Scope =>
  project === null ? { group_id: group.id } : { project };

const getCount = (counts: readonly ColumnCount[], list: BoardList | null): number => {
  const is = ({ kind, id }: ColumnCount): boolean => {
    if (list === null) return kind === 'rest';
    if (kind === 'label') return id === list.label_id;
    return kind === 'assignee' ? id === list.assignee_id : kind === 'milestone' && id === list.milestone_id;
  };
  return counts.find(is)?.total ?? 0;
};

/**
 * Loads the columns that a board shows. Two statements count them all, and each column takes two more for its first
 * issues, however many there are.
 */
export const loadColumns = async (
  call: Call,
  board: Board,
  { filters, scope, limitOf }: ColumnsQuery,
): Promise<LoadedColumn[]> => {
  const columns = listColumns(board);
  const counts = await countIssuesByColumn(
    { call, scope, filters: boardFilters(board, filters, 'opened') },
    { ids: idsOfLists(board), hasRest: columns.some(({ key }) => key === 'open') },
  );
  const totalOf = async ({ key, list }: BoardColumn): Promise<number> =>
    key === 'closed'
      ? await countIssues(call, scope, columnFilters(board, { key, list }, filters))
      : getCount(counts, list);
  const listed = counts.reduce((sum, one) => sum + one.total, 0);
  const loaded: LoadedColumn[] = [];
  for (const column of columns) {
    const total = await totalOf(column);
    const limit = limitOf(column.key);
    const page = { page: 1, per_page: limit, limit, offset: 0 };
    // Issues of all columns are mixed in one order: to read a column with few issues, others are skipped.
    const passed = column.key === 'open' && total > 0 ? Math.round((limit * listed) / total) : 0;
    const query = { call, scope, filters: columnFilters(board, column, filters), page, passed };
    loaded.push({ ...column, total, versions: total === 0 ? [] : await listIssueVersions(query) });
  }
  return loaded;
};
