import type { Ddl, MigrationText } from '../ddl_keywords.ts';
import { reviewerRevisionStatements } from './revision_triggers.ts';

/** As `assignees`: links repeat the creation time of their record, for lists in that order. */
const reviewers = ({ text, integer, end }: Ddl): string[] => [
  `create table reviewers (
    target_type ${text} not null,
    target_id ${integer} not null,
    user_id ${integer} not null references users (id) on delete cascade,
    position ${integer} not null,
    state ${text} not null,
    created_at ${integer} not null,
    target_created_at ${integer} not null,
    primary key (target_type, target_id, user_id)
  ) ${end}`,
  'create index reviewers_user on reviewers (user_id, target_type, target_created_at, target_id)',
];

/** Reviewers of merge requests. */
export const reviewerTables: MigrationText = {
  name: '0039_reviewers',
  statements: (ddl) => [...reviewers(ddl), ...reviewerRevisionStatements(ddl.engine)],
};
