import type { MigrationText } from '../ddl_keywords.ts';

/** The last review that each user submitted of a merge request, and the head that they reviewed. */
export const lastReviews: MigrationText = {
  name: '0216_last_reviews',
  statements: ({ text, integer, end }) => [
    `create table merge_request_reviews (
      merge_request_id ${integer} not null references merge_requests (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      head_sha ${text} not null,
      created_at ${integer} not null,
      primary key (merge_request_id, user_id)
    ) ${end}`,
    'create index merge_request_reviews_user on merge_request_reviews (user_id)',
  ],
};
