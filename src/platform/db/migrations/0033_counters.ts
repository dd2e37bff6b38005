import type { Ddl, MigrationText } from '../ddl_keywords.ts';
import { postgresCounters } from './counters_postgres.ts';
import { sqliteCounters } from './counters_sqlite.ts';

const sequences = ['issue', 'merge_request', 'milestone', 'pipeline', 'deployment'] as const;

/** Separates iids from the counters, so that taking an iid does not block transactions that only count. */
const iidSequences = ({ integer, text, end }: Ddl): string[] => [
  `create table iid_sequences (
    project_id ${integer} not null references projects (id) on delete cascade,
    kind ${text} not null,
    last ${integer} not null,
    primary key (project_id, kind)
  ) ${end}`,
  ...sequences.flatMap((kind) => [
    `insert into iid_sequences (project_id, kind, last)
      select project_id, '${kind}', ${kind}_iid from project_counters where ${kind}_iid > 0`,
    `alter table project_counters drop column ${kind}_iid`,
  ]),
];

const sum = (condition: string): string => `sum(case when ${condition} then 1 else 0 end)`;

/**
 * Counters by label. No foreign keys: rows of a label without links are removed, and a foreign key check would wait
 * for transactions that delete labels.
 */
const labelCounts = ({ integer, end }: Ddl): string[] => [
  `create table label_counts (
    label_id ${integer} not null,
    project_id ${integer} not null,
    opened_issues ${integer} not null,
    closed_issues ${integer} not null,
    opened_confidential_issues ${integer} not null,
    closed_confidential_issues ${integer} not null,
    opened_merge_requests ${integer} not null,
    primary key (label_id, project_id)
  ) ${end}`,
  `insert into label_counts
    select label_id, project_id, sum(opened), sum(closed), sum(opened_confidential), sum(closed_confidential),
      sum(requests)
    from (
      select label_id, project_id, ${sum(`state = 'opened'`)} as opened, ${sum(`state = 'closed'`)} as closed,
        ${sum(`state = 'opened' and confidential = 1`)} as opened_confidential,
        ${sum(`state = 'closed' and confidential = 1`)} as closed_confidential, 0 as requests
      from label_links join issues on issues.id = target_id
      where target_type = 'Issue' and deleted_at is null group by label_id, project_id
      union all
      select label_id, project_id, 0, 0, 0, 0, ${sum(`state = 'opened'`)}
      from label_links join merge_requests on merge_requests.id = target_id
      where target_type = 'MergeRequest' and deleted_at is null group by label_id, project_id
    ) as counted group by label_id, project_id`,
];

/** Adds triggers that count issues and merge requests by project and by label, and a table of iids. */
export const counters: MigrationText = {
  name: '0033_counters',
  statements: (ddl) => [
    ...iidSequences(ddl),
    ...labelCounts(ddl),
    ...(ddl.engine === 'sqlite' ? sqliteCounters() : postgresCounters()),
  ],
};
