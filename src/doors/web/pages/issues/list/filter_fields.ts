/** The form with a field for each filter of a list of issues. */
import { dueWords } from '../../../../../planning/issues/lists/due_filter.ts';
import { type FilterField, sharedFields } from '../../issuables/list/filter_bar.ts';

const dueNames: Readonly<Record<string, string>> = {
  '0': 'No due date',
  any: 'Any due date',
  today: 'Today',
  tomorrow: 'Tomorrow',
  overdue: 'Overdue',
  week: 'This week',
  month: 'This month',
  next_month_and_previous_two_weeks: 'Next month and previous two weeks',
};

export const issueFields: readonly FilterField[] = [
  ...sharedFields,
  {
    name: 'due_date',
    label: 'Due',
    options: dueWords.map((word) => [word, dueNames[word] ?? word] as const),
  },
  {
    name: 'confidential',
    label: 'Confidential',
    options: [
      ['true', 'Only confidential'],
      ['false', 'Without confidential'],
    ],
  },
];
