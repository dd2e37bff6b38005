import type { MigrationText } from '../ddl_keywords.ts';

/**
 * PostgreSQL: before a transaction takes its first id of `events`, it locks the last id in use, shared, until it ends.
 * So readers of the log know which ids may still be committed (`outgoing/change_stream/log_end.ts`).
 */
const holdIds = [
  `create function hold_event_ids() returns trigger language plpgsql as $$ begin
    if coalesce(current_setting('gantry.holds_event_ids', true), '') = '' then
      perform pg_advisory_xact_lock_shared(hashtext(tg_table_schema || '.events'),
        (select (last_value % 2147483648)::int from events_id_seq));
      perform set_config('gantry.holds_event_ids', 'yes', true);
    end if;
    return null;
  end $$`,
  `create trigger events_held before insert on events for each statement execute function hold_event_ids()`,
];

/** Until `changes_read_until` (milliseconds), processes are told of changes, because one of them streams the log. */
export const changeStream: MigrationText = {
  name: '0070_change_stream',
  statements: ({ engine }) => [
    `insert into instance (name, value) values ('changes_read_until', '0')`,
    ...(engine === 'postgres' ? holdIds : []),
  ],
};
