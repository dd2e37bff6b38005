/** Removes the rows of a project that is gone, in bounded transactions. Every step may be done twice. */
import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../db/open.ts';
import { drain } from '../namespaces/drain.ts';

/** Notes or issues that one round takes. */
const round = 100;
/** Rounds that one run of the work takes before other work has its turn. */
const mostRounds = 50;

/** What hangs on an issue: each table with its primary key. */
const linked: [table: string, ...key: string[]][] = [
  ['mentions', 'target_type', 'target_id', 'user_id', 'note_id'],
  ['label_links', 'target_type', 'target_id', 'label_id'],
  ['assignees', 'target_type', 'target_id', 'user_id'],
  ['award_emoji', 'id'],
  ['subscriptions', 'target_type', 'target_id', 'user_id'],
  ['timelogs', 'id'],
  ['user_agent_details', 'target_type', 'target_id'],
];

const nextIds = async (store: Store, table: 'notes' | 'issues', projectId: number): Promise<number[]> => {
  const rows = await store.db
    .selectFrom(table)
    .select('id')
    .where('project_id', '=', projectId)
    .orderBy('id')
    .limit(round)
    .execute();
  return rows.map(({ id }) => id);
};

const targeted = (type: string, ids: number[]): RawBuilder<boolean> =>
  sql<boolean>`target_type = ${type} and target_id in (${sql.join(ids)})`;

/** @returns whether there were any */
const purgeNotes = async (store: Store, projectId: number): Promise<boolean> => {
  const ids = await nextIds(store, 'notes', projectId);
  if (ids.length === 0) return false;
  await drain(store, { table: 'award_emoji', key: ['id'], where: targeted('Note', ids) });
  await store.write(async ({ db }) => await db.deleteFrom('notes').where('id', 'in', ids).execute());
  return true;
};

/** @returns whether there were any */
const purgeIssues = async (store: Store, projectId: number): Promise<boolean> => {
  const ids = await nextIds(store, 'issues', projectId);
  if (ids.length === 0) return false;
  for (const [table, ...key] of linked) {
    // oxlint-disable-next-line no-await-in-loop -- one bounded transaction after another
    await drain(store, { table, key, where: targeted('Issue', ids) });
  }
  const closing = sql<boolean>`issue_id in (${sql.join(ids)})`;
  await drain(store, {
    table: 'merge_requests_closing_issues',
    key: ['issue_id', 'merge_request_id'],
    where: closing,
  });
  await store.write(async ({ db, words }) => {
    // SQLite's index of words is a table of its own, which no foreign key reaches.
    if (words.engine === 'sqlite') {
      await sql`delete from issue_search_index where rowid in (${sql.join(ids)})`.execute(db);
    }
    await db.deleteFrom('issues').where('id', 'in', ids).execute();
  });
  return true;
};

const purgeRest = async (store: Store, projectId: number): Promise<void> => {
  const labels = sql`(select id from labels where project_id = ${projectId})`;
  const ofProject = sql<boolean>`project_id = ${projectId}`;
  await drain(store, {
    table: 'subscriptions',
    key: ['target_type', 'target_id', 'user_id'],
    where: sql<boolean>`target_type = 'Label' and target_id in ${labels}`,
  });
  await drain(store, {
    table: 'label_links',
    key: ['target_type', 'target_id', 'label_id'],
    where: sql<boolean>`label_id in ${labels}`,
  });
  // Deploy keys that no other project has.
  await drain(store, {
    table: 'keys',
    key: ['id'],
    where: sql<boolean>`user_id is null
      and id in (select key_id from deploy_key_projects where project_id = ${projectId})
      and not exists (select 1 from deploy_key_projects as others
        where others.key_id = keys.id and others.project_id <> ${projectId})`,
  });
  for (const table of ['labels', 'milestones', 'todos', 'snippets', 'uploads']) {
    // oxlint-disable-next-line no-await-in-loop -- one bounded transaction after another
    await drain(store, { table, key: ['id'], where: ofProject });
  }
  const membership = sql<boolean>`source_type = 'Project' and source_id = ${projectId}`;
  await drain(store, { table: 'members', key: ['id'], where: membership });
  await store.write(async ({ db }) => await db.deleteFrom('projects').where('id', '=', projectId).execute());
};

const isGone = async (store: Store, projectId: number): Promise<boolean> => {
  const row = await store.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
};

/**
 * @param removeFiles called before the last row goes, so that none is forgotten
 * @returns whether nothing is left; false: come again
 */
export const purgeProject = async (
  store: Store,
  projectId: number,
  removeFiles: () => Promise<void> = async () => undefined,
): Promise<boolean> => {
  if (!(await isGone(store, projectId))) return true;
  for (let rounds = 0; rounds < mostRounds; rounds += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one bounded transaction after another
    const more = (await purgeNotes(store, projectId)) || (await purgeIssues(store, projectId));
    if (!more) {
      // oxlint-disable-next-line no-await-in-loop -- the last steps
      await removeFiles();
      // oxlint-disable-next-line no-await-in-loop
      await purgeRest(store, projectId);
      return true;
    }
  }
  return false;
};
