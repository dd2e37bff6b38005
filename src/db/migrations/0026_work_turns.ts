import type { MigrationText } from '../ddl.ts';

/** Work of the same turn runs one after another: at most one such row is locked, whoever takes it. */
export const workTurns: MigrationText = {
  name: '0026_work_turns',
  statements: ({ text }) => [
    `alter table work add column turn ${text}`,
    'create index work_turn on work (turn, run_at, id) where turn is not null',
    'create unique index work_turn_locked on work (turn) where locked_until is not null',
  ],
};
