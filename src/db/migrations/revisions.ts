/**
 * Triggers that tell what was kept of an issue from what it is now. Whatever a list shows of an issue stands in its
 * row, in its links, or in a name that many show; a change of the first two raises `issues.revision`, a change of the
 * last the instance's `names_version`. They are triggers so that no write, by whatever code, can forget them.
 */
import type { Ddl } from '../ddl.ts';

const links = ['label_links', 'assignees'] as const;
/** By which a link comes or goes, and which of its rows tells of which issue. */
const changes = [
  ['insert', 'new'],
  ['update', 'old'],
  ['update', 'new'],
  ['delete', 'old'],
] as const;

/** What issues show of other records: a change of any of these columns. */
const names = {
  users: 'username, name, state, email',
  labels: 'title',
  milestones: 'iid, project_id, group_id, title, description, state, start_date, due_date, created_at, updated_at',
  projects: 'full_path',
} as const;

const renamed = `update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'`;

const sqliteTriggers = (): string[] => [
  `create trigger issues_revised after update on issues when new.revision = old.revision begin
    update issues set revision = old.revision + 1 where id = new.id;
  end`,
  ...links.flatMap((table) =>
    changes.map(
      ([change, row]) => `create trigger ${table}_${change}_${row} after ${change} on ${table}
        when ${row}.target_type = 'Issue' begin
        update issues set revision = revision + 1 where id = ${row}.target_id;
      end`,
    ),
  ),
  ...Object.entries(names).map(
    ([table, columns]) => `create trigger ${table}_renamed after update of ${columns} on ${table} begin
      ${renamed};
    end`,
  ),
];

const postgresFunction = (name: string, body: string): string =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${body} end $$`;

const postgresTriggers = (): string[] => [
  postgresFunction('revise_issue', 'new.revision := old.revision + 1; return new;'),
  `create trigger issues_revised before update on issues for each row
    when (new.revision = old.revision) execute function revise_issue()`,
  postgresFunction(
    'revise_linked_issues',
    `update issues set revision = revision + 1
      where id in (select target_id from changed where target_type = 'Issue'); return null;`,
  ),
  ...links.flatMap((table) =>
    changes.map(
      ([change, row]) => `create trigger ${table}_${change}_${row} after ${change} on ${table}
        referencing ${row} table as changed
        for each statement execute function revise_linked_issues()`,
    ),
  ),
  postgresFunction('raise_names_version', `${renamed}; return null;`),
  ...Object.entries(names).map(
    ([table, columns]) => `create trigger ${table}_renamed after update of ${columns} on ${table}
      for each statement execute function raise_names_version()`,
  ),
];

export const revisionStatements = (engine: Ddl['engine']): string[] => [
  `insert into instance (name, value) values ('names_version', '0')`,
  ...(engine === 'sqlite' ? sqliteTriggers() : postgresTriggers()),
];
