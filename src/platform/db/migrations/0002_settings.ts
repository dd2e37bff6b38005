import type { MigrationText } from '../ddl_keywords.ts';

export const settings: MigrationText = {
  name: '0002_settings',
  statements: ({ id, text, integer, end }) => [
    `create table settings (
      name ${text} primary key,
      value ${text} not null,
      updated_at ${integer} not null,
      updated_by_id ${integer} references users (id) on delete set null
    ) ${end}`,
    // Locked by transactions that change settings.
    `insert into instance (name, value) values ('settings', '')`,

    // Rows may refer to deleted users and targets; they stay unchanged.
    `create table audit_events (
      id ${id},
      created_at ${integer} not null,
      kind ${text} not null,
      actor_id ${integer},
      sudo_by_id ${integer},
      target_type ${text},
      target_id ${integer},
      ip ${text} not null,
      user_agent ${text} not null,
      details ${text} not null
    ) ${end}`,
    'create index audit_events_kind on audit_events (kind, id)',
    'create index audit_events_created on audit_events (created_at)',
    'create index audit_events_actor on audit_events (actor_id, id)',
    'create index audit_events_target on audit_events (target_type, target_id, id)',
  ],
};
