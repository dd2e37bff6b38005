import type { MigrationText } from '../ddl_keywords.ts';

const raise = `update instance set value = cast(cast(value as bigint) + 1 as text)
  where name = 'hooks_version' and value <> '0'`;

const moves = [
  ['projects', 'namespace_id'],
  ['namespaces', 'parent_id'],
] as const;

const sqliteTriggers = moves.flatMap(([table, column]) => [
  `drop trigger ${table}_moved_for_hooks`,
  `create trigger ${table}_moved_for_hooks after update of ${column} on ${table}
    when new.${column} is not old.${column} begin ${raise}; end`,
]);

/** The lock waits for a transaction that makes the first hook. */
const postgresFunction = `create or replace function raise_hooks_version() returns trigger language plpgsql
  as $$ begin
    perform 1 from instance where name = 'hooks_version' for update;
    ${raise};
    return null;
  end $$`;

/** Moves of projects and groups leave the version at 0 while no hook was ever made: then writes look for none. */
export const movesWithoutHooks: MigrationText = {
  name: '0200_moves_without_hooks',
  statements: ({ engine }) => (engine === 'sqlite' ? sqliteTriggers : [postgresFunction]),
};
