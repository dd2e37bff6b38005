/** What the forms of a board compare with the board as it is saved. */
import { isDeepStrictEqual } from 'node:util';
import type { Board, BoardList } from '../../../../planning/boards/queries.ts';
import { guardEdits } from '../../parts/fields/guard_edits.ts';
import { columnName } from './column_name.ts';

type BoardValues = {
  name: string;
  show_open: boolean;
  show_closed: boolean;
  labels: string;
  assignee: string;
  milestone: string;
};

/** Returns the values of the form for a stored board. */
export const fromBoard = (board: Board): BoardValues => ({
  name: board.name,
  show_open: board.hide_backlog_list === 0,
  show_closed: board.hide_closed_list === 0,
  labels: board.labels.map(({ title }) => title).join(', '),
  assignee: board.assignee?.username ?? '',
  milestone: board.milestone?.title ?? '',
});

/** Returns the values of the form as it was sent. */
export const fromTexts = (texts: Readonly<Record<string, string>>): BoardValues => {
  const { name = '', labels = '', assignee = '', milestone = '', show_open, show_closed } = texts;
  return {
    name,
    labels,
    assignee,
    milestone,
    show_open: show_open === '1',
    show_closed: show_closed === '1',
  };
};

const toTitles = (labels: string): string[] =>
  [...new Set(labels.split(',').map((title) => title.trim()))].filter((title) => title !== '').toSorted();

/** Returns the stored spelling of values that name the same labels and the same user. */
const normalize = (typed: BoardValues, saved: BoardValues): BoardValues => {
  const areSameLabels = isDeepStrictEqual(toTitles(typed.labels), toTitles(saved.labels));
  const username = typed.assignee.trim().replace(/^@/, '').toLowerCase();
  return {
    ...typed,
    ...(areSameLabels && { labels: saved.labels }),
    ...(username === saved.assignee.toLowerCase() && { assignee: saved.assignee }),
  };
};

export const boardGuard = guardEdits({
  word: 'board',
  fromRecord: fromBoard,
  normalize,
  labels: {
    name: 'Name',
    show_open: 'Show the column Open',
    show_closed: 'Show the column Closed',
    labels: 'Only with these labels',
    assignee: 'Only of this assignee',
    milestone: 'Only of this milestone',
  },
});

const listName = (list: BoardList): string => columnName({ key: list.id, list });

const listIds = (lists: readonly BoardList[]): string[] => lists.map(({ id }) => String(id));

/** Guard of the buttons that move a list: its new place depends on the order of all lists. */
export const orderGuard = guardEdits({
  word: 'board',
  fromRecord: ({ lists }: Board) => ({ order: listIds(lists) }),
  labels: { order: 'Order of the lists' },
  options: ({ lists }) => ({ order: lists.map((list) => [String(list.id), listName(list)] as const) }),
});

/** Returns the order of a board's lists, as `orderGuard` compares it, once a list is at a position. */
export const orderWith = ({ lists }: Board, list: BoardList, position: number): { order: string[] } => {
  const others = lists.filter(({ id }) => id !== list.id);
  return { order: listIds(others.toSpliced(position, 0, list)) };
};

/** Returns the label of the control with the limit of a list. */
export const limitLabel = (list: BoardList): string => `Limit of ${listName(list)}`;

/** Guard of the limit of a list. */
export const limitGuard = (listed: BoardList) =>
  guardEdits({
    word: 'board',
    fromRecord: ({ lists }: Board) => ({
      limit: String(lists.find(({ id }) => id === listed.id)?.max_issue_count ?? ''),
    }),
    labels: { limit: limitLabel(listed) },
  });
