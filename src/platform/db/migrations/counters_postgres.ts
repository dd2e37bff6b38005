/**
 * PostgreSQL counters: rows that many transactions change are locked last, in one order, at commit. Until then, a
 * transaction collects its steps in a setting (`gantry.steps`). A deferred trigger adds them to the counters:
 * projects by id, then labels, then the version of names.
 */

/** A step: ids of label (0: none) and project, then the amounts added to these columns, in this order. */
const projectColumns = [
  'issues_version',
  'merge_requests_version',
  'opened_issues',
  'closed_issues',
  'opened_confidential_issues',
  'closed_confidential_issues',
  'opened_merge_requests',
  'closed_merge_requests',
  'merged_merge_requests',
] as const;

type Column = (typeof projectColumns)[number];

const labelColumns: readonly Column[] = projectColumns.slice(2, 7);

const procedure = (name: string, returns: string, body: string): string =>
  `create or replace function ${name} returns ${returns} language plpgsql as $$ ${body} $$`;

const number = (column: Column): number => projectColumns.indexOf(column) + 3;
const list = (make: (column: Column) => string, of: readonly Column[] = projectColumns): string =>
  of.map(make).join(', ');

/**
 * Defines `flush_steps`.
 * @param added columns of `project_counters` that later migrations added; steps may lack their amounts
 */
export const flushSteps = (added: readonly string[] = []): string => {
  const sums = added.map(
    (column, at) => `, coalesce(sum(n[${projectColumns.length + 3 + at}]), 0) as ${column}`,
  );
  const sets = added.map((column) => `, ${column} = project_counters.${column} + one.${column}`);
  return procedure(
    'flush_steps()',
    'trigger',
    `declare
      noted text := coalesce(current_setting('gantry.steps', true), '');
      one record;
    begin
      perform set_config('gantry.flush', '', true);
      perform set_config('gantry.steps', '', true);
      for one in
        select n[2] as project, ${list((column) => `sum(n[${number(column)}]) as ${column}`)}${sums.join('')}
        from (select string_to_array(step, ',')::bigint[] as n
          from unnest(string_to_array(rtrim(noted, ';'), ';')) as step) as steps
        where n[1] = 0 group by n[2] order by n[2]
      loop
        update project_counters set ${list((column) => `${column} = project_counters.${column} + one.${column}`)}${sets.join('')}
        where project_id = one.project;
      end loop;
      for one in
        select n[1] as label, n[2] as project,
          ${list((column) => `sum(n[${number(column)}]) as ${column}`, labelColumns)}
        from (select string_to_array(step, ',')::bigint[] as n
          from unnest(string_to_array(rtrim(noted, ';'), ';')) as step) as steps
        where n[1] > 0 group by n[1], n[2] order by n[1], n[2]
      loop
        insert into label_counts values (one.label, one.project, ${list((column) => `one.${column}`, labelColumns)})
        on conflict (label_id, project_id) do update
          set ${list((column) => `${column} = label_counts.${column} + excluded.${column}`, labelColumns)};
        delete from label_counts where label_id = one.label and project_id = one.project
          and ${labelColumns.map((column) => `${column} = 0`).join(' and ')};
      end loop;
      if current_setting('gantry.names', true) = 'changed' then
        perform set_config('gantry.names', '', true);
        update instance set value = cast(cast(value as bigint) + 1 as text) where name = 'names_version';
      end if;
      return null;
    end`,
  );
};

const flush = [
  procedure(
    'note_steps(steps text)',
    'void',
    `begin
      if steps is not null then
        perform set_config('gantry.steps', coalesce(current_setting('gantry.steps', true), '') || steps || ';', true);
      end if;
    end`,
  ),
  // The first change of a transaction schedules one flush at its end.
  procedure(
    'begin_flush()',
    'boolean',
    `begin
      if current_setting('gantry.flush', true) = 'waits' then return false; end if;
      perform set_config('gantry.flush', 'waits', true);
      return true;
    end`,
  ),
  flushSteps(),
];

/**
 * Builds the expression that notes a step of a project for added columns.
 * @param amounts one SQL expression per added column
 */
export const noteAdded = (amounts: readonly string[], rows: string): string =>
  `perform note_steps((select string_agg(step, ';') from (
    select concat_ws(',', 0, project_id, ${projectColumns.map(() => '0').join(', ')}, ${amounts.join(', ')}) as step
    from ${rows} group by project_id) as steps))`;

/** Makes changes of a table run `flush_steps` at the end of their transaction. */
export const flushedAfter = (table: string, changes: string): string =>
  `create constraint trigger ${table}_flushed after ${changes} on ${table}
    deferrable initially deferred for each row when (begin_flush()) execute function flush_steps()`;

type Counts = Partial<Record<Column, string>>;

/** What one live row adds to the counters, by kind. */
const kinds = {
  issues: {
    type: 'Issue',
    version: 'issues_version',
    project: {
      opened_issues: `state = 'opened'`,
      closed_issues: `state = 'closed'`,
      opened_confidential_issues: `state = 'opened' and confidential = 1`,
      closed_confidential_issues: `state = 'closed' and confidential = 1`,
    } as Counts,
    label: {
      opened_issues: `state = 'opened'`,
      closed_issues: `state = 'closed'`,
      opened_confidential_issues: `state = 'opened' and confidential = 1`,
      closed_confidential_issues: `state = 'closed' and confidential = 1`,
    } as Counts,
  },
  merge_requests: {
    type: 'MergeRequest',
    version: 'merge_requests_version',
    project: {
      opened_merge_requests: `state in ('opened', 'locked')`,
      closed_merge_requests: `state = 'closed'`,
      merged_merge_requests: `state = 'merged'`,
    } as Counts,
    label: { opened_merge_requests: `state = 'opened'` } as Counts,
  },
} as const;

type Table = keyof typeof kinds;

/** Builds the text of a step from grouped rows with a `sign`. */
const stepText = (label: string, project: string, counts: Counts, version?: Column): string => {
  const numbers = list((column) => {
    if (column === version) return '1';
    const condition = counts[column];
    return condition === undefined
      ? '0'
      : `sum(case when deleted_at is null and ${condition} then sign else 0 end)`;
  });
  return `string_agg(step, ';') from (select concat_ws(',', ${label}, ${project}, ${numbers}) as step`;
};

const noteRows = (table: Table, name: string, rows: string): string => {
  const { type, version, project, label } = kinds[table];
  const names = 'id, project_id, state, confidential, deleted_at';
  return procedure(
    name,
    'trigger',
    `begin
      perform note_steps((select ${stepText('0', 'project_id', project, version)}
        from (${rows}) as moved group by project_id) as steps));
      perform note_steps((select ${stepText('label_id', 'project_id', label)}
        from (select ${names}, sum(sign) as sign from (${rows}) as each_row
          group by ${names} having sum(sign) <> 0) as moved
        join label_links on target_type = '${type}' and target_id = id
        group by label_id, project_id) as steps));
      return null;
    end`,
  );
};

const columnsOf = (table: Table): string =>
  `id, project_id, state, ${table === 'issues' ? 'confidential' : '0 as confidential'}, deleted_at`;

/** Replaces the triggers that raised the version of lists; these raise it, too. */
const countRows = (table: Table): string[] => {
  const came = `select ${columnsOf(table)}, 1 as sign from came`;
  const gone = `select ${columnsOf(table)}, -1 as sign from gone`;
  const changes = [
    ['insert', 'new', 'referencing new table as came', came],
    ['update', 'new', 'referencing old table as gone new table as came', `${came} union all ${gone}`],
    ['delete', 'old', 'referencing old table as gone', gone],
  ] as const;
  return changes.flatMap(([change, row, tables, rows]) => [
    `drop trigger ${table}_${change}_${row} on ${table}`,
    noteRows(table, `count_${change}_of_${table}()`, rows),
    `create trigger ${table}_counted_${change} after ${change} on ${table} ${tables}
      for each statement execute function count_${change}_of_${table}()`,
  ]);
};

const ofLinks = (table: Table, sign: 1 | -1): string => {
  const { type, label } = kinds[table];
  const source = `${table} join changed on changed.target_type = '${type}' and changed.target_id = ${table}.id`;
  return `perform note_steps((select ${stepText('label_id', 'project_id', label)}
    from (select label_id, ${columnsOf(table)}, ${sign} as sign from ${source}) as linked
    group by label_id, project_id) as steps));`;
};

/**
 * Runs after the triggers that raise the revisions of linked records, which wait for concurrent changes of the same
 * record.
 */
const countLinks = (): string[] => [
  ...([1, -1] as const).map((sign) =>
    procedure(
      `${sign === 1 ? 'count' : 'uncount'}_links()`,
      'trigger',
      `begin ${ofLinks('issues', sign)} ${ofLinks('merge_requests', sign)} return null; end`,
    ),
  ),
  ...(
    [
      ['insert', 'new', 'count'],
      ['update', 'new', 'count'],
      ['update', 'old', 'uncount'],
      ['delete', 'old', 'uncount'],
    ] as const
  ).map(
    ([change, row, verb]) => `create trigger label_links_then_${verb}_${change}_${row}
      after ${change} on label_links referencing ${row} table as changed
      for each statement execute function ${verb}_links()`,
  ),
];

/** Raises the list version of some projects, once each. */
export const noteVersions = (version: Column, rows: string): string =>
  `perform note_steps((select ${stepText('0', 'project_id', {}, version)} from ${rows} group by project_id) as steps))`;

const raiseOfTargets = (table: Table, name: string): string =>
  procedure(
    `${name}()`,
    'trigger',
    `begin
      ${noteVersions(
        kinds[table].version,
        `${table} where id in (select target_id from changed where target_type = '${kinds[table].type}')`,
      )};
      return null;
    end`,
  );

const names = {
  users: 'username, name, state, email',
  labels: 'title',
  milestones:
    'iid, project_id, group_id, title, description, state, start_date, due_date, created_at, updated_at',
  projects: 'full_path',
};

export const postgresCounters = (): string[] => [
  ...flush,
  ...countRows('issues'),
  ...countRows('merge_requests'),
  ...countLinks(),
  raiseOfTargets('issues', 'raise_versions_of_targets'),
  raiseOfTargets('merge_requests', 'raise_versions_of_merge_requests'),
  procedure(
    'raise_names_version()',
    'trigger',
    `begin perform set_config('gantry.names', 'changed', true); return null; end`,
  ),
  'drop function raise_versions()',
  'drop function raise_merge_request_versions()',
  ...['issues', 'merge_requests', 'label_links', 'award_emoji'].map((table) =>
    flushedAfter(table, 'insert or update or delete'),
  ),
  ...Object.entries(names).map(([table, columns]) => flushedAfter(table, `update of ${columns}`)),
];
