import type { MigrationText } from '../ddl_keywords.ts';

/** What time was spent on, and the day, where it is not that of the entry. */
export const timelogSummaries: MigrationText = {
  name: '0225_timelog_summaries',
  statements: ({ text }) => [
    `alter table timelogs add column summary ${text} not null default ''`,
    `alter table timelogs add column spent_on ${text}`,
  ],
};
