import type { MigrationText } from '../ddl_keywords.ts';

/** Issue boards of projects and groups, with their columns. */
export const boards: MigrationText = {
  name: '0074_boards',
  statements: ({ id, integer, text, end }) => [
    `create table boards (
      id ${id},
      project_id ${integer} references projects (id) on delete cascade,
      group_id ${integer} references namespaces (id) on delete cascade,
      name ${text} not null,
      hide_backlog_list ${integer} not null default 0,
      hide_closed_list ${integer} not null default 0,
      milestone_id ${integer} references milestones (id) on delete set null,
      assignee_id ${integer} references users (id) on delete set null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index boards_project on boards (project_id, id) where project_id is not null',
    'create index boards_group on boards (group_id, id) where group_id is not null',
    'create index boards_milestone on boards (milestone_id) where milestone_id is not null',
    'create index boards_assignee on boards (assignee_id) where assignee_id is not null',
    `create table board_labels (
      board_id ${integer} not null references boards (id) on delete cascade,
      label_id ${integer} not null references labels (id) on delete cascade,
      primary key (board_id, label_id)
    ) ${end}`,
    'create index board_labels_label on board_labels (label_id)',
    // Each list has one of the three.
    `create table board_lists (
      id ${id},
      board_id ${integer} not null references boards (id) on delete cascade,
      label_id ${integer} references labels (id) on delete cascade,
      assignee_id ${integer} references users (id) on delete cascade,
      milestone_id ${integer} references milestones (id) on delete cascade,
      position ${integer} not null,
      max_issue_count ${integer} not null default 0,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index board_lists_board on board_lists (board_id, position, id)',
    ...(['label_id', 'assignee_id', 'milestone_id'] as const).map(
      (column) =>
        `create unique index board_lists_${column} on board_lists (${column}, board_id) where ${column} is not null`,
    ),
  ],
};
