/**
 * What a deleted user leaves behind: handed over to the ghost, or removed with him. Each is a fixed number of
 * statements over the whole of it. A table that names an author joins `authored`.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/open.ts';

/** Where a user stands as an author, so that his row cannot go before. */
const authored = [
  ['issues', 'author_id'],
  ['issues', 'closed_by_id'],
  ['notes', 'author_id'],
  ['timelogs', 'user_id'],
  ['todos', 'author_id'],
  ['award_emoji', 'user_id'],
] as const;

const run = async (tx: Tx, statements: RawBuilder<unknown>[]): Promise<void> => {
  for (const statement of statements) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await statement.execute(tx.db);
  }
};

const idsOf = async (tx: Tx, query: RawBuilder<{ id: number }>): Promise<number[]> =>
  (await query.execute(tx.db)).rows.map(({ id }) => id);

export const hasContributions = async (tx: Tx, userId: number): Promise<boolean> => {
  const any = authored.map(
    ([table, column]) => sql`exists (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${userId})`,
  );
  const { rows } = await sql`select 1 as found where ${sql.join(any, sql` or `)}`.execute(tx.db);
  return rows.length > 0;
};

/**
 * Marks what was cached of the projects whose issues change as old, and keeps others from counting in them.
 * @returns their ids
 */
export const touchProjects = async (tx: Tx, userId: number): Promise<number[]> => {
  const projects = await idsOf(
    tx,
    sql`select project_id as id from issues where author_id = ${userId}
      union select project_id from notes where author_id = ${userId}
      union select issues.project_id from issues join assignees on assignees.target_id = issues.id
        where assignees.target_type = 'Issue' and assignees.user_id = ${userId}
      union select issues.project_id from issues join award_emoji on award_emoji.target_id = issues.id
        where award_emoji.target_type = 'Issue' and award_emoji.user_id = ${userId}
      union select issues.project_id from issues join timelogs on timelogs.target_id = issues.id
        where timelogs.target_type = 'Issue' and timelogs.user_id = ${userId}`,
  );
  await sql`update project_counters set issues_version = issues_version + 1
    where ${tx.words.oneOf('project_id', projects)}`.execute(tx.db);
  return projects;
};

/** Keeps others from counting in issues that will be counted anew: they come before or after, not between. */
const lockIssues = async (tx: Tx, issueIds: number[]): Promise<void> => {
  await sql`select id from issues where ${tx.words.oneOf('id', issueIds)} order by id ${tx.words.forUpdate}`.execute(
    tx.db,
  );
};

const votes = (name: string): RawBuilder<number> =>
  sql`(select count(*) from award_emoji
    where target_type = 'Issue' and target_id = issues.id and name = ${name})`;

/** Counts anew what is kept beside these issues. */
const recount = (tx: Tx, issueIds: number[]): RawBuilder<unknown> =>
  sql`update issues set
    upvotes = ${votes('thumbsup')},
    downvotes = ${votes('thumbsdown')},
    user_notes_count = (select count(*) from notes
      where target_type = 'Issue' and target_id = issues.id and system = 0),
    total_time_spent = (select coalesce(sum(time_spent), 0) from timelogs
      where target_type = 'Issue' and target_id = issues.id)
    where ${tx.words.oneOf('issues.id', issueIds)}`;

const countOf = (state: string, condition: RawBuilder<unknown>): RawBuilder<number> =>
  sql`(select count(*) from issues where project_id = project_counters.project_id
    and deleted_at is null and state = ${state} and ${condition})`;

const recountProjects = (tx: Tx, projectIds: number[]): RawBuilder<unknown> =>
  sql`update project_counters set
    opened_issues = ${countOf('opened', sql`1 = 1`)},
    closed_issues = ${countOf('closed', sql`1 = 1`)},
    opened_confidential_issues = ${countOf('opened', sql`confidential = 1`)},
    closed_confidential_issues = ${countOf('closed', sql`confidential = 1`)}
    where ${tx.words.oneOf('project_id', projectIds)}`;

/** Awards that the ghost has given already: they go with the user, and the votes are counted anew. */
const doubleAwards = async (tx: Tx, userId: number, ghost: number): Promise<number[]> =>
  await idsOf(
    tx,
    sql`select mine.id from award_emoji mine join award_emoji other
      on other.target_type = mine.target_type and other.target_id = mine.target_id and other.name = mine.name
      where mine.user_id = ${userId} and other.user_id = ${ghost}`,
  );

/** Makes the ghost the author of all that the user wrote. */
export const handOver = async (tx: Tx, userId: number, ghost: number): Promise<void> => {
  const doubles = await doubleAwards(tx, userId, ghost);
  const issues = await idsOf(
    tx,
    sql`select distinct target_id as id from award_emoji
      where target_type = 'Issue' and ${tx.words.oneOf('id', doubles)}`,
  );
  const moves = authored.map(
    ([table, column]) => sql`update ${sql.table(table)} set ${sql.ref(column)} = ${ghost}
      where ${sql.ref(column)} = ${userId}`,
  );
  await lockIssues(tx, issues);
  await run(tx, [
    sql`delete from award_emoji where ${tx.words.oneOf('id', doubles)}`,
    ...moves,
    recount(tx, issues),
  ]);
};

/** Tables of rows that hang on an issue. */
const ofIssues = [
  'label_links',
  'assignees',
  'mentions',
  'award_emoji',
  'subscriptions',
  'todos',
  'timelogs',
  'user_agent_details',
  'notes',
];

/**
 * Removes all that the user wrote, with what hangs on it.
 * @param projects those touched
 */
export const erase = async (tx: Tx, userId: number, projects: number[]): Promise<void> => {
  const own = sql`(select id from issues where author_id = ${userId})`;
  const ownNotes = sql`(select id from notes where author_id = ${userId})`;
  const issues = await idsOf(
    tx,
    sql`select target_id as id from notes where target_type = 'Issue' and author_id = ${userId}
      union select target_id from timelogs where target_type = 'Issue' and user_id = ${userId}
      union select target_id from award_emoji where target_type = 'Issue' and user_id = ${userId}`,
  );
  await lockIssues(tx, issues);
  await run(tx, [
    sql`delete from award_emoji where target_type = 'Note' and target_id in
      (select id from notes where target_type = 'Issue' and target_id in ${own})`,
    ...ofIssues.map(
      (table) => sql`delete from ${sql.table(table)} where target_type = 'Issue' and target_id in ${own}`,
    ),
    sql`delete from issues where author_id = ${userId}`,
    sql`update issues set closed_by_id = null where closed_by_id = ${userId}`,
    sql`delete from award_emoji where target_type = 'Note' and target_id in ${ownNotes}`,
    sql`delete from mentions where (target_type, target_id) in
      (select target_type, target_id from notes where author_id = ${userId}) and note_id in ${ownNotes}`,
    sql`delete from notes where author_id = ${userId}`,
    sql`delete from timelogs where user_id = ${userId}`,
    sql`delete from todos where author_id = ${userId}`,
    sql`delete from award_emoji where user_id = ${userId}`,
    recount(tx, issues),
    recountProjects(tx, projects),
  ]);
};
