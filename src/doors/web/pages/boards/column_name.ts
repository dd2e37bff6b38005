import type { BoardColumn } from '../../../../planning/boards/columns/columns.ts';

/** Returns the name of a column: of its label, assignee or milestone. */
export const columnName = ({ key, list }: BoardColumn): string => {
  if (list === null) return key === 'closed' ? 'Closed' : 'Open';
  return list.label?.title ?? list.assignee?.name ?? list.milestone?.title ?? '';
};
