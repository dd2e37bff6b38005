import type { MigrationText } from '../ddl_keywords.ts';

export const discussions: MigrationText = {
  name: '0011_discussions',
  statements: ({ text, integer }) => [
    // null: an individual comment, whose discussion id is derived from its own id.
    `alter table notes add column discussion_id ${text}`,
    // 'DiscussionNote' or 'DiffNote'; null: a plain comment.
    `alter table notes add column type ${text}`,
    // JSON: position in the diff where it was written, and where that line is now.
    `alter table notes add column original_position ${text}`,
    `alter table notes add column position ${text}`,
    `alter table notes add column resolvable ${integer} not null default 0`,
    `alter table notes add column resolved_at ${integer}`,
    `alter table notes add column resolved_by_id ${integer} references users (id) on delete set null`,
    'create index notes_discussion on notes (discussion_id) where discussion_id is not null',
    'create index notes_unresolved on notes (target_type, target_id) where resolvable = 1 and resolved_at is null',
    'create index notes_resolved_by on notes (resolved_by_id) where resolved_by_id is not null',
  ],
};
