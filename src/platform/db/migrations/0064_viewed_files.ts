import type { MigrationText } from '../ddl_keywords.ts';

/** Files of merge requests that users have viewed. */
export const viewedFiles: MigrationText = {
  name: '0064_viewed_files',
  statements: ({ text, integer, end }) => [
    `create table merge_request_viewed_files (
      merge_request_id ${integer} not null references merge_requests (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      path_digest ${text} not null,
      blob_id ${text} not null,
      created_at ${integer} not null,
      primary key (merge_request_id, user_id, path_digest)
    ) ${end}`,
    'create index merge_request_viewed_files_user on merge_request_viewed_files (user_id)',
  ],
};
