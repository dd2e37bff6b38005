import type { MigrationText } from '../ddl_keywords.ts';

/** Serializes work of the same turn: at most one such row is locked at a time. */
export const workTurns: MigrationText = {
  name: '0026_work_turns',
  statements: ({ text }) => [
    `alter table work add column turn ${text}`,
    'create index work_turn on work (turn, run_at, id) where turn is not null',
    'create unique index work_turn_locked on work (turn) where locked_until is not null',
  ],
};
