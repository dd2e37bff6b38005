import type { MigrationText } from '../ddl_keywords.ts';
import { flushSteps, flushedAfter, noteAdded } from './counters_postgres.ts';

const count = (change: 'insert' | 'delete', row: 'new' | 'old', sign: '+' | '-'): string =>
  `create trigger project_stars_counted_${change} after ${change} on project_stars begin
    update project_counters set star_count = star_count ${sign} 1 where project_id = ${row}.project_id; end`;

const note = (change: 'insert' | 'delete', row: 'new' | 'old', amount: string): string[] => [
  `create function count_${change}_of_project_stars() returns trigger language plpgsql as $$
    begin ${noteAdded([amount], 'changed')}; return null; end $$`,
  `create trigger project_stars_counted_${change} after ${change} on project_stars
    referencing ${row} table as changed
    for each statement execute function count_${change}_of_project_stars()`,
];

/** Stars of projects, and their totals, which triggers maintain. */
export const projectStars: MigrationText = {
  name: '0052_project_stars',
  statements: ({ engine, integer, end }) => [
    `create table project_stars (
      project_id ${integer} not null references projects (id) on delete cascade,
      user_id ${integer} not null references users (id) on delete cascade,
      created_at ${integer} not null,
      primary key (project_id, user_id)
    ) ${end}`,
    'create index project_stars_user on project_stars (user_id)',
    'create index project_stars_newest on project_stars (project_id, created_at, user_id)',
    `alter table project_counters add column star_count ${integer} not null default 0`,
    ...(engine === 'sqlite'
      ? [count('insert', 'new', '+'), count('delete', 'old', '-')]
      : [
          flushSteps(['star_count']),
          ...note('insert', 'new', 'count(*)'),
          ...note('delete', 'old', '-count(*)'),
          flushedAfter('project_stars', 'insert or delete'),
        ]),
  ],
};
