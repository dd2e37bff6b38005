/** SQLite counters: triggers count each change at once. */

type Row = 'new' | 'old';
/** +1 for an inserted row, -1 for a deleted one. */
type Step = { row: Row; sign: '+' | '-' };

const came: Step = { row: 'new', sign: '+' };
const gone: Step = { row: 'old', sign: '-' };

/** Which rows each column of `project_counters` counts. */
const kinds = {
  issues: {
    type: 'Issue',
    watched: 'state, confidential, deleted_at',
    totals: {
      opened_issues: (row: string) => `${row}.state = 'opened'`,
      closed_issues: (row: string) => `${row}.state = 'closed'`,
      opened_confidential_issues: (row: string) => `${row}.state = 'opened' and ${row}.confidential = 1`,
      closed_confidential_issues: (row: string) => `${row}.state = 'closed' and ${row}.confidential = 1`,
    },
    byLabel: ['opened_issues', 'closed_issues', 'opened_confidential_issues', 'closed_confidential_issues'],
  },
  merge_requests: {
    type: 'MergeRequest',
    watched: 'state, deleted_at',
    totals: {
      opened_merge_requests: (row: string) => `${row}.state in ('opened', 'locked')`,
      closed_merge_requests: (row: string) => `${row}.state = 'closed'`,
      merged_merge_requests: (row: string) => `${row}.state = 'merged'`,
    },
    byLabel: ['opened_merge_requests'],
  },
} as const;

type Table = keyof typeof kinds;

const labelColumns = [...kinds.issues.byLabel, ...kinds.merge_requests.byLabel];

/** Condition for records that count for a label. Merge requests count while open, not while being merged. */
const labelCondition = (table: Table, column: string, row: string): string => {
  if (column === 'opened_merge_requests') return `${row}.state = 'opened'`;
  const { totals } = kinds[table];
  return (totals as Record<string, (row: string) => string>)[column]?.(row) ?? '0';
};

const counted = (row: string, condition: string): string =>
  `(case when ${row}.deleted_at is null and ${condition} then 1 else 0 end)`;

const inProject = (table: Table, steps: Step[]): string => {
  const sets = Object.entries(kinds[table].totals).map(([column, condition]) => {
    const changes = steps.map(({ row, sign }) => `${sign} ${counted(row, condition(row))}`);
    return `${column} = ${column} ${changes.join(' ')}`;
  });
  return `update project_counters set ${sets.join(', ')} where project_id = ${steps[0]?.row ?? 'new'}.project_id;`;
};

/** Adds the amounts of an `insert ... select` to the existing counters. */
const addToLabels = (select: string): string => {
  const added = labelColumns.map((column) => `${column} = ${column} + excluded.${column}`);
  return `insert into label_counts (label_id, project_id, ${labelColumns.join(', ')}) ${select}
    on conflict (label_id, project_id) do update set ${added.join(', ')};`;
};

const labelChanges = (table: Table, change: (column: string) => string): string => {
  const own: readonly string[] = kinds[table].byLabel;
  return labelColumns.map((column) => (own.includes(column) ? change(column) : '0')).join(', ');
};

/** Counts a changed record for each of its labels. */
const ofItsLabels = (table: Table, steps: Step[]): string => {
  const row = steps[0]?.row ?? 'new';
  const changes = labelChanges(table, (column) =>
    steps
      .map((step) => `${step.sign} ${counted(step.row, labelCondition(table, column, step.row))}`)
      .join(' '),
  );
  return addToLabels(`select label_id, ${row}.project_id, ${changes} from label_links
    where target_type = '${kinds[table].type}' and target_id = ${row}.id`);
};

/** Counts a changed link for its label. */
const ofOneLabel = (table: Table, { row, sign }: Step): string => {
  const changes = labelChanges(
    table,
    (column) => `${sign} ${counted('linked', labelCondition(table, column, 'linked'))}`,
  );
  return addToLabels(`select ${row}.label_id, linked.project_id, ${changes} from ${table} as linked
    where linked.id = ${row}.target_id and linked.deleted_at is null`);
};

/** Deletes the counters of labels that no record carries. */
const dropEmpty = (table: Table): string =>
  `delete from label_counts where label_id = old.label_id
    and project_id = (select project_id from ${table} where id = old.target_id)
    and ${labelColumns.map((column) => `${column} = 0`).join(' and ')};`;

const isChanged = (table: Table): string =>
  kinds[table].watched
    .split(', ')
    .map((column) => `new.${column} is not old.${column}`)
    .join(' or ');

const trigger = (name: string, on: string, run: string[]): string =>
  `create trigger ${name} after ${on} begin ${run.join(' ')} end`;

const countRecords = (table: Table): string[] => {
  const both = [came, gone];
  return [
    trigger(`${table}_counted_insert`, `insert on ${table}`, [inProject(table, [came])]),
    trigger(
      `${table}_counted_update`,
      `update of ${kinds[table].watched} on ${table} when ${isChanged(table)}`,
      [inProject(table, both), ofItsLabels(table, both)],
    ),
    trigger(`${table}_counted_delete`, `delete on ${table}`, [
      inProject(table, [gone]),
      ofItsLabels(table, [gone]),
    ]),
  ];
};

const countLinks = (table: Table): string[] => {
  const ofType = (row: Row): string => `when ${row}.target_type = '${kinds[table].type}'`;
  const linked = `label_links_of_${table}`;
  return [
    trigger(`${linked}_counted_insert`, `insert on label_links ${ofType('new')}`, [ofOneLabel(table, came)]),
    trigger(`${linked}_counted_update_old`, `update on label_links ${ofType('old')}`, [
      ofOneLabel(table, gone),
    ]),
    trigger(`${linked}_counted_update_new`, `update on label_links ${ofType('new')}`, [
      ofOneLabel(table, came),
    ]),
    trigger(`${linked}_counted_delete`, `delete on label_links ${ofType('old')}`, [
      ofOneLabel(table, gone),
      dropEmpty(table),
    ]),
  ];
};

const tables = ['issues', 'merge_requests'] as const;

export const sqliteCounters = (): string[] =>
  tables.flatMap((table) => [...countRecords(table), ...countLinks(table)]);

/** The part of `sqliteCounters` that is lost with the table `label_links`. */
export const sqliteLabelLinkCounters = (): string[] => tables.flatMap(countLinks);
