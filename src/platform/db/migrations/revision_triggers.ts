/**
 * Triggers that invalidate caches of issues and merge requests. Triggers see every write, whatever code or process
 * makes it.
 *
 * - `issues.revision` rises with every change of the issue's row, labels and assignees.
 * - `project_counters.issues_version` rises with every change that an issue of the project, or a list of them, can
 *   show: each of the above, and awards.
 * - `names_version` of the instance rises when a name changes that issues show or are searched by.
 */
import type { Ddl } from '../ddl_keywords.ts';
import { flushedAfter, noteVersions } from './counters_postgres.ts';

/** Row changes, each with the row version (`new` or `old`) that contains the key of its record. */
const changes = [
  ['insert', 'new'],
  ['update', 'old'],
  ['update', 'new'],
  ['delete', 'old'],
] as const;

/** For issues, which never change their project. */
const changesInProject = changes.filter(([change, row]) => change !== 'update' || row === 'new');

const links = ['label_links', 'assignees'] as const;

/** Names of other records that issues show: a change of any of these columns. */
const names = {
  users: 'username, name, state, email',
  labels: 'title',
  milestones:
    'iid, project_id, group_id, title, description, state, start_date, due_date, created_at, updated_at',
  projects: 'full_path',
} as const;

/** Cached records, with the names of their triggers. */
const kinds = {
  issues: {
    table: 'issues',
    type: 'Issue',
    version: 'issues_version',
    /** Suffix of trigger names on tables that both kinds share. */
    of: '',
    functions: {
      revise: 'revise_issue',
      raise: 'raise_versions',
      reviseLinked: 'revise_linked_issues',
      raiseOfTargets: 'raise_versions_of_targets',
    },
  },
  merge_requests: {
    table: 'merge_requests',
    type: 'MergeRequest',
    version: 'merge_requests_version',
    of: '_of_merge_request',
    functions: {
      revise: 'revise_merge_request',
      raise: 'raise_merge_request_versions',
      reviseLinked: 'revise_linked_merge_requests',
      raiseOfTargets: 'raise_versions_of_merge_requests',
    },
  },
} as const;

type Kind = (typeof kinds)[keyof typeof kinds];

const raiseRevision = ({ table }: Kind): string => `update ${table} set revision = revision + 1 where id`;
const raiseVersion = ({ version }: Kind): string =>
  `update project_counters set ${version} = ${version} + 1 where project_id`;
const raiseNames = `update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version'`;

type SqliteTrigger = { name: string; on: string; when?: string; run: string };

const sqliteTrigger = ({ name, on, when, run }: SqliteTrigger): string =>
  `create trigger ${name} after ${on}${when === undefined ? '' : ` when ${when}`} begin ${run}; end`;

const sqliteLinkTriggers = (kind: Kind, table: string): string[] =>
  changes.map(([change, row]) =>
    sqliteTrigger({
      name: `${table}_${change}_${row}${kind.of}`,
      on: `${change} on ${table}`,
      when: `${row}.target_type = '${kind.type}'`,
      run:
        table === 'award_emoji'
          ? `${raiseVersion(kind)} = (select project_id from ${kind.table} where id = ${row}.target_id)`
          : `${raiseRevision(kind)} = ${row}.target_id`,
    }),
  );

/** SQLite: raises the revisions of records when this table links others to them. */
export const sqliteTriggersOfLinks = (table: (typeof links)[number]): string[] =>
  Object.values(kinds).flatMap((kind) => sqliteLinkTriggers(kind, table));

const sqliteTriggers = (kind: Kind): string[] => [
  sqliteTrigger({
    name: `${kind.table}_revised`,
    on: `update on ${kind.table}`,
    when: 'new.revision = old.revision',
    run: `${raiseRevision(kind)} = new.id`,
  }),
  ...changesInProject.map(([change, row]) =>
    sqliteTrigger({
      name: `${kind.table}_${change}_${row}`,
      on: `${change} on ${kind.table}`,
      // A change that does not raise the revision is followed by an update that does.
      ...(change === 'update' && { when: 'new.revision <> old.revision' }),
      run: `${raiseVersion(kind)} = ${row}.project_id`,
    }),
  ),
  ...[...links, 'award_emoji'].flatMap((table) => sqliteLinkTriggers(kind, table)),
];

const sqliteNames = (): string[] =>
  Object.entries(names).map(([table, columns]) =>
    sqliteTrigger({ name: `${table}_renamed`, on: `update of ${columns} on ${table}`, run: raiseNames }),
  );

const postgresFunction = (name: string, statement: string): string =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`;

type EachChange = { table: string; of?: string; run: string; some?: readonly (readonly string[])[] };

const eachChange = ({ table, of = '', run, some = changes }: EachChange): string[] =>
  some.map(
    ([change, row]) => `create trigger ${table}_${change}_${row}${of} after ${change} on ${table}
      referencing ${row} table as changed for each statement execute function ${run}()`,
  );

const postgresTriggers = (kind: Kind): string[] => {
  const { table, type, of, functions } = kind;
  const changedTargets = `(select target_id from changed where target_type = '${type}')`;
  return [
    `create function ${functions.revise}() returns trigger language plpgsql as
    $$ begin new.revision := old.revision + 1; return new; end $$`,
    `create trigger ${table}_revised before update on ${table} for each row
    when (new.revision = old.revision) execute function ${functions.revise}()`,
    postgresFunction(functions.raise, `${raiseVersion(kind)} in (select project_id from changed)`),
    postgresFunction(functions.reviseLinked, `${raiseRevision(kind)} in ${changedTargets}`),
    postgresFunction(
      functions.raiseOfTargets,
      `${raiseVersion(kind)} in (select project_id from ${table} where id in ${changedTargets})`,
    ),
    ...eachChange({ table, run: functions.raise, some: changesInProject }),
    ...links.flatMap((link) => eachChange({ table: link, of, run: functions.reviseLinked })),
    ...eachChange({ table: 'award_emoji', of, run: functions.raiseOfTargets }),
  ];
};

const postgresNames = (): string[] => [
  postgresFunction('raise_names_version', raiseNames),
  ...Object.entries(names).map(
    ([table, columns]) => `create trigger ${table}_renamed after update of ${columns} on ${table}
      for each statement execute function raise_names_version()`,
  ),
];

/** Statements that 0001_begin runs. */
export const revisionStatements = (engine: Ddl['engine']): string[] => [
  `insert into instance (name, value) values ('names_version', '0')`,
  ...(engine === 'sqlite'
    ? [...sqliteTriggers(kinds.issues), ...sqliteNames()]
    : [...postgresTriggers(kinds.issues), ...postgresNames()]),
];

/** As `revisionStatements`, for merge requests. */
export const mergeRequestRevisionStatements = (engine: Ddl['engine']): string[] =>
  engine === 'sqlite' ? sqliteTriggers(kinds.merge_requests) : postgresTriggers(kinds.merge_requests);

/** Raises the revision of a merge request when its reviewers change. */
export const reviewerRevisionStatements = (engine: Ddl['engine']): string[] => {
  const kind = kinds.merge_requests;
  return engine === 'sqlite'
    ? sqliteLinkTriggers(kind, 'reviewers')
    : eachChange({ table: 'reviewers', of: kind.of, run: kind.functions.reviseLinked });
};

/**
 * Raises `issues_version` of a merge request's project when the issues that it closes change. Only merge requests of
 * the issue's own project count, so no other project is locked.
 */
export const closerVersionStatements = (engine: Ddl['engine']): string[] => {
  const table = 'merge_requests_closing_issues';
  const some = [
    ['insert', 'new'],
    ['delete', 'old'],
  ] as const;
  const raise = raiseVersion(kinds.issues);
  if (engine === 'sqlite') {
    return some.map(([change, row]) =>
      sqliteTrigger({
        name: `${table}_${change}_${row}`,
        on: `${change} on ${table}`,
        run: `${raise} = (select project_id from merge_requests where id = ${row}.merge_request_id)`,
      }),
    );
  }
  const requests = 'merge_requests where id in (select merge_request_id from changed)';
  return [
    postgresFunction('raise_versions_of_closed_issues', noteVersions('issues_version', requests)),
    ...eachChange({ table, run: 'raise_versions_of_closed_issues', some }),
    flushedAfter(table, 'insert or delete'),
  ];
};

/** Raises `names_version` when a column of a project changes that issues and merge requests show. */
export const projectNameStatements = (engine: Ddl['engine']): string[] => {
  const [name, on] = ['projects_renamed', 'update of full_path, squash_option on projects'];
  return engine === 'sqlite'
    ? [`drop trigger ${name}`, sqliteTrigger({ name, on, run: raiseNames })]
    : [
        `drop trigger ${name} on projects`,
        `create trigger ${name} after ${on} for each statement execute function raise_names_version()`,
        'drop trigger projects_flushed on projects',
        flushedAfter('projects', 'update of full_path, squash_option'),
      ];
};

/** Raises `names_version` when a column of a user changes that issues and merge requests show. */
export const userNameStatements = (engine: Ddl['engine']): string[] => {
  const change = `update of ${names.users}, avatar`;
  const [name, on] = ['users_renamed', `${change} on users`];
  return engine === 'sqlite'
    ? [`drop trigger ${name}`, sqliteTrigger({ name, on, run: raiseNames })]
    : [
        `drop trigger ${name} on users`,
        `create trigger ${name} after ${on} for each statement execute function raise_names_version()`,
        'drop trigger users_flushed on users',
        flushedAfter('users', change),
      ];
};
