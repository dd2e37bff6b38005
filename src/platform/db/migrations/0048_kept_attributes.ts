import type { MigrationText } from '../ddl_keywords.ts';

/** Attributes that writes used to ignore: locked discussions, token descriptions, key usage, schedule inputs. */
export const keptAttributes: MigrationText = {
  name: '0048_kept_attributes',
  statements: ({ text, integer }) => [
    // null: never locked.
    `alter table issues add column discussion_locked ${integer}`,
    `alter table merge_requests add column discussion_locked ${integer}`,
    `alter table tokens add column description ${text}`,
    `alter table keys add column usage_type ${text} not null default 'auth_and_signing'`,
    // JSON object: value by name.
    `alter table pipeline_schedules add column inputs ${text}`,
  ],
};
