import type { MigrationText } from '../ddl_keywords.ts';

/** Message templates and switches of projects. */
export const projectOptions: MigrationText = {
  name: '0154_project_options',
  statements: ({ text, integer }) => [
    ...['merge_commit_template', 'squash_commit_template', 'suggestion_commit_message'].map(
      (name) => `alter table projects add column ${name} ${text}`,
    ),
    ...[
      'autoclose_referenced_issues',
      'printing_merge_request_link_enabled',
      'emails_enabled',
      'group_runners_enabled',
    ].map((name) => `alter table projects add column ${name} ${integer} not null default 1`),
  ],
};
