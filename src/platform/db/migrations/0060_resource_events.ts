import type { MigrationText } from '../ddl_keywords.ts';

/** Changes of state, labels and milestone of issues and merge requests, one row each. */
export const resourceEvents: MigrationText = {
  name: '0060_resource_events',
  statements: ({ id, integer, text, end }) => [
    `create table resource_events (
      id ${id},
      kind ${text} not null,
      target_type ${text} not null,
      target_id ${integer} not null,
      user_id ${integer} references users (id) on delete set null,
      action ${text} not null,
      label_id ${integer} references labels (id) on delete set null,
      milestone_id ${integer} references milestones (id) on delete cascade,
      created_at ${integer} not null
    ) ${end}`,
    'create index resource_events_target on resource_events (target_type, target_id, kind, id)',
    'create index resource_events_user on resource_events (user_id) where user_id is not null',
    'create index resource_events_label on resource_events (label_id) where label_id is not null',
    'create index resource_events_milestone on resource_events (milestone_id) where milestone_id is not null',
  ],
};
