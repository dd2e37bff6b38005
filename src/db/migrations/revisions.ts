/**
 * Triggers that tell what was kept of issues from what they are now: triggers, so that no write, by whatever code or
 * process, can forget them.
 *
 * - `issues.revision` rises with every change of the issue's row, of its labels and of its assignees.
 * - `project_counters.issues_version` rises with every change that an issue of the project, or a list of them, can
 *   show: each of the above, and awards.
 * - `names_version` of the instance rises when a name changes that issues show or are looked for by.
 */
import type { Ddl } from '../ddl.ts';

/** How a row comes or goes, and which form of it tells whose it is. */
const changes = [
  ['insert', 'new'],
  ['update', 'old'],
  ['update', 'new'],
  ['delete', 'old'],
] as const;

/** Of an issue: it never changes its project. */
const changesInProject = changes.filter(([change, row]) => change !== 'update' || row === 'new');

const links = ['label_links', 'assignees'] as const;

/** What issues show of other records: a change of any of these columns. */
const names = {
  users: 'username, name, state, email',
  labels: 'title',
  milestones:
    'iid, project_id, group_id, title, description, state, start_date, due_date, created_at, updated_at',
  projects: 'full_path',
} as const;

const raise = {
  revision: 'update issues set revision = revision + 1 where id',
  version: 'update project_counters set issues_version = issues_version + 1 where project_id',
  names: `update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'`,
} as const;

type SqliteTrigger = { name: string; on: string; when?: string; run: string };

const sqliteTrigger = ({ name, on, when, run }: SqliteTrigger): string =>
  `create trigger ${name} after ${on}${when === undefined ? '' : ` when ${when}`} begin ${run}; end`;

const sqliteTriggers = (): string[] => [
  sqliteTrigger({
    name: 'issues_revised',
    on: 'update on issues',
    when: 'new.revision = old.revision',
    run: `${raise.revision} = new.id`,
  }),
  ...changesInProject.map(([change, row]) =>
    sqliteTrigger({
      name: `issues_${change}_${row}`,
      on: `${change} on issues`,
      // What does not raise it itself is followed by an update that does.
      ...(change === 'update' && { when: 'new.revision <> old.revision' }),
      run: `${raise.version} = ${row}.project_id`,
    }),
  ),
  ...[...links, 'award_emoji'].flatMap((table) =>
    changes.map(([change, row]) =>
      sqliteTrigger({
        name: `${table}_${change}_${row}`,
        on: `${change} on ${table}`,
        when: `${row}.target_type = 'Issue'`,
        run:
          table === 'award_emoji'
            ? `${raise.version} = (select project_id from issues where id = ${row}.target_id)`
            : `${raise.revision} = ${row}.target_id`,
      }),
    ),
  ),
  ...Object.entries(names).map(([table, columns]) =>
    sqliteTrigger({ name: `${table}_renamed`, on: `update of ${columns} on ${table}`, run: raise.names }),
  ),
];

const postgresFunction = (name: string, statement: string): string =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`;

const eachChange = (table: string, run: string, some: readonly (readonly string[])[] = changes): string[] =>
  some.map(
    ([change, row]) => `create trigger ${table}_${change}_${row} after ${change} on ${table}
      referencing ${row} table as changed for each statement execute function ${run}()`,
  );

const changedTargets = `(select target_id from changed where target_type = 'Issue')`;

const postgresTriggers = (): string[] => [
  `create function revise_issue() returns trigger language plpgsql as
    $$ begin new.revision := old.revision + 1; return new; end $$`,
  `create trigger issues_revised before update on issues for each row
    when (new.revision = old.revision) execute function revise_issue()`,
  postgresFunction('raise_versions', `${raise.version} in (select project_id from changed)`),
  postgresFunction('revise_linked_issues', `${raise.revision} in ${changedTargets}`),
  postgresFunction(
    'raise_versions_of_targets',
    `${raise.version} in (select project_id from issues where id in ${changedTargets})`,
  ),
  postgresFunction('raise_names_version', raise.names),
  ...eachChange('issues', 'raise_versions', changesInProject),
  ...links.flatMap((table) => eachChange(table, 'revise_linked_issues')),
  ...eachChange('award_emoji', 'raise_versions_of_targets'),
  ...Object.entries(names).map(
    ([table, columns]) => `create trigger ${table}_renamed after update of ${columns} on ${table}
      for each statement execute function raise_names_version()`,
  ),
];

export const revisionStatements = (engine: Ddl['engine']): string[] => [
  `insert into instance (name, value) values ('names_version', '0')`,
  ...(engine === 'sqlite' ? sqliteTriggers() : postgresTriggers()),
];
