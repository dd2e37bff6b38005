import type { MigrationText } from '../ddl_keywords.ts';

const cascade = 'on delete cascade';

export const movedAndDrafted: MigrationText = {
  name: '0014_moved_and_drafted',
  statements: ({ id, text, integer, end }) => [
    // Former paths of projects and namespaces: they redirect until another project or namespace takes the path.
    `create table redirect_routes (
      path ${text} primary key,
      source_type ${text} not null,
      source_id ${integer} not null
    ) ${end}`,
    'create index redirect_routes_source on redirect_routes (source_type, source_id)',

    `create table draft_notes (
      id ${id},
      merge_request_id ${integer} not null references merge_requests (id) ${cascade},
      author_id ${integer} not null references users (id) ${cascade},
      note ${text} not null,
      discussion_id ${text},
      resolve_discussion ${integer} not null default 0,
      position ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index draft_notes_author on draft_notes (author_id, merge_request_id, id)',
    'create index draft_notes_merge_request on draft_notes (merge_request_id)',

    `create table release_milestones (
      release_id ${integer} not null references releases (id) ${cascade},
      milestone_id ${integer} not null references milestones (id) ${cascade},
      primary key (release_id, milestone_id)
    ) ${end}`,
    'create index release_milestones_milestone on release_milestones (milestone_id)',

    // null: a comment of an earlier version, each in a discussion of its own.
    `alter table commit_comments add column discussion_id ${text}`,
    `alter table commit_comments add column position ${text}`,
    `alter table commit_comments add column updated_at ${integer}`,
    'create index commit_comments_discussion on commit_comments (discussion_id) where discussion_id is not null',
  ],
};
