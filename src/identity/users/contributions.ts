/**
 * Contributions of a deleted user: reassigned to the ghost, or erased with the user. Each takes a fixed number of
 * statements. A new table with an author column must be added to `authored`.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';

/** Columns that reference a user as author, so that the user's row cannot be deleted before. */
const authored = [
  ['issues', 'author_id'],
  ['issues', 'closed_by_id'],
  ['merge_requests', 'author_id'],
  ['merge_requests', 'closed_by_id'],
  ['merge_requests', 'merged_by_id'],
  ['notes', 'author_id'],
  ['notes', 'resolved_by_id'],
  ['timelogs', 'user_id'],
  ['resource_events', 'user_id'],
  ['todos', 'author_id'],
  ['award_emoji', 'user_id'],
  ['commit_statuses', 'author_id'],
  ['commit_comments', 'author_id'],
] as const;

/** Kinds of records that have notes, awards and the like. */
const kinds = [
  { table: 'issues', type: 'Issue' },
  { table: 'merge_requests', type: 'MergeRequest' },
] as const;

type Kind = (typeof kinds)[number];

const run = async (tx: Tx, statements: RawBuilder<unknown>[]): Promise<void> => {
  for (const statement of statements) {
    await statement.execute(tx.db);
  }
};

const selectIds = async (tx: Tx, query: RawBuilder<{ id: number }>): Promise<number[]> =>
  (await query.execute(tx.db)).rows.map(({ id }) => id);

export const hasContributions = async (tx: Tx, userId: number): Promise<boolean> => {
  const any = authored.map(
    ([table, column]) => sql`exists (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${userId})`,
  );
  const { rows } = await sql`select 1 as found where ${sql.join(any, sql` or `)}`.execute(tx.db);
  return rows.length > 0;
};

/** Ids of records by kind. */
type Records = { kind: Kind; ids: number[] }[];

/** Locks records whose counters will be recomputed, so that other writers count before or after. */
const lockRecords = async (tx: Tx, records: Records): Promise<void> =>
  await run(
    tx,
    records.map(
      ({ kind, ids }) => sql`select id from ${sql.table(kind.table)}
        where ${tx.dialect.oneOf('id', ids)} order by id ${tx.dialect.forUpdate}`,
    ),
  );

const findRecords = async (tx: Tx, idsIn: (kind: Kind) => RawBuilder<{ id: number }>): Promise<Records> => {
  const records: Records = [];
  for (const kind of kinds) {
    records.push({ kind, ids: await selectIds(tx, idsIn(kind)) });
  }
  return records;
};

/** Recomputes the counters stored with these records. */
const recount = (tx: Tx, records: Records): RawBuilder<unknown>[] =>
  records.map(({ kind: { table, type }, ids }) => {
    const here = sql`target_type = ${type} and target_id = ${sql.table(table)}.id`;
    const votes = (name: string) => sql`(select count(*) from award_emoji where ${here} and name = ${name})`;
    return sql`update ${sql.table(table)} set
      upvotes = ${votes('thumbsup')},
      downvotes = ${votes('thumbsdown')},
      user_notes_count = (select count(*) from notes where ${here} and system = 0 and internal = 0),
      total_time_spent = (select coalesce(sum(time_spent), 0) from timelogs where ${here})
      where ${tx.dialect.oneOf(`${table}.id`, ids)}`;
  });

/** Returns the awards that the ghost has given already. They are deleted, and votes are recounted. */
const doubleAwards = async (tx: Tx, userId: number, ghost: number): Promise<number[]> =>
  await selectIds(
    tx,
    sql`select mine.id from award_emoji mine join award_emoji other
      on other.target_type = mine.target_type and other.target_id = mine.target_id and other.name = mine.name
      where mine.user_id = ${userId} and other.user_id = ${ghost}`,
  );

/** Reassigns all contributions of the user to the ghost. */
export const reassignContributions = async (tx: Tx, userId: number, ghost: number): Promise<void> => {
  const doubles = await doubleAwards(tx, userId, ghost);
  const records = await findRecords(
    tx,
    ({ type }) => sql`select distinct target_id as id from award_emoji
      where target_type = ${type} and ${tx.dialect.oneOf('id', doubles)}`,
  );
  const moves = authored.map(
    ([table, column]) => sql`update ${sql.table(table)} set ${sql.ref(column)} = ${ghost}
      where ${sql.ref(column)} = ${userId}`,
  );
  await lockRecords(tx, records);
  await run(tx, [
    sql`delete from award_emoji where ${tx.dialect.oneOf('id', doubles)}`,
    ...moves,
    ...recount(tx, records),
  ]);
};

/** Tables whose rows belong to an issue or merge request. */
const dependentTables = [
  'label_links',
  'assignees',
  'reviewers',
  'mentions',
  'award_emoji',
  'subscriptions',
  'todos',
  'timelogs',
  'resource_events',
  'user_agent_details',
  'notes',
];

/** Deletes the records of a kind that the user wrote. */
const eraseRecords = ({ table, type }: Kind, userId: number): RawBuilder<unknown>[] => {
  const own = sql`(select id from ${sql.table(table)} where author_id = ${userId})`;
  return [
    sql`delete from award_emoji where target_type = 'Note' and target_id in
      (select id from notes where target_type = ${type} and target_id in ${own})`,
    ...dependentTables.map(
      (links) => sql`delete from ${sql.table(links)} where target_type = ${type} and target_id in ${own}`,
    ),
    // No foreign key deletes these.
    ...(type === 'MergeRequest'
      ? [sql`delete from merge_requests_closing_issues where merge_request_id in ${own}`]
      : []),
    sql`delete from ${sql.table(table)} where author_id = ${userId}`,
    sql`update ${sql.table(table)} set closed_by_id = null where closed_by_id = ${userId}`,
  ];
};

/** Deletes all contributions of the user with everything that belongs to them. */
export const eraseContributions = async (tx: Tx, userId: number): Promise<void> => {
  const ownNotes = sql`(select id from notes where author_id = ${userId})`;
  const records = await findRecords(
    tx,
    ({ type }) => sql`select target_id as id from notes where target_type = ${type} and author_id = ${userId}
      union select target_id from timelogs where target_type = ${type} and user_id = ${userId}
      union select target_id from award_emoji where target_type = ${type} and user_id = ${userId}`,
  );
  await lockRecords(tx, records);
  await run(tx, [
    ...kinds.flatMap((kind) => eraseRecords(kind, userId)),
    sql`delete from award_emoji where target_type = 'Note' and target_id in ${ownNotes}`,
    sql`delete from mentions where (target_type, target_id) in
      (select target_type, target_id from notes where author_id = ${userId}) and note_id in ${ownNotes}`,
    sql`delete from notes where author_id = ${userId}`,
    sql`delete from timelogs where user_id = ${userId}`,
    sql`delete from todos where author_id = ${userId}`,
    sql`delete from award_emoji where user_id = ${userId}`,
    sql`delete from commit_statuses where author_id = ${userId}`,
    sql`delete from commit_comments where author_id = ${userId}`,
    ...recount(tx, records),
  ]);
};
