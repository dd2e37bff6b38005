/** Deletes the rows of a removed project in bounded transactions. Every step is idempotent. */
import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../../../platform/db/open.ts';
import { type RepositoryLocation, repositoryColumns } from '../../../platform/git/repository.ts';
import { enqueueAvatarRemoval } from '../../../identity/avatars/store_avatar.ts';
import { deleteInBatches } from '../../../identity/namespaces/delete_in_batches.ts';

/** Number of notes, issues or merge requests per round. */
const round = 100;
/** Number of rounds per run, before other work has its turn. */
const maxRounds = 50;

/** Tables that belong to an issue or merge request, with their primary keys. */
const linked: [table: string, ...key: string[]][] = [
  ['mentions', 'target_type', 'target_id', 'user_id', 'note_id'],
  ['label_links', 'target_type', 'target_id', 'label_id'],
  ['assignees', 'target_type', 'target_id', 'user_id'],
  ['reviewers', 'target_type', 'target_id', 'user_id'],
  ['award_emoji', 'id'],
  ['subscriptions', 'target_type', 'target_id', 'user_id'],
  ['timelogs', 'id'],
  ['resource_events', 'id'],
  ['user_agent_details', 'target_type', 'target_id'],
];

type Targets = 'issues' | 'merge_requests';

const nextIds = async (store: Store, table: 'notes' | Targets, projectId: number): Promise<number[]> => {
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
  await deleteInBatches(store, { table: 'award_emoji', key: ['id'], where: targeted('Note', ids) });
  await store.write(async ({ db }) => await db.deleteFrom('notes').where('id', 'in', ids).execute());
  return true;
};

/** References to each kind of record, and the full-text index, which in SQLite has no foreign key. */
const kinds = {
  issues: { type: 'Issue', closing: 'issue_id', index: 'issue_search_index' },
  merge_requests: {
    type: 'MergeRequest',
    closing: 'merge_request_id',
    index: 'merge_request_search_index',
  },
} as const;

/** Versions are large, so they are deleted before their merge requests. */
const purgeVersions = async (store: Store, ids: number[]): Promise<void> => {
  const ofRequests = sql<boolean>`merge_request_id in (${sql.join(ids)})`;
  const versions = sql`(select id from merge_request_diffs where ${ofRequests})`;
  await deleteInBatches(store, {
    table: 'merge_request_commits',
    key: ['diff_id', 'position'],
    where: sql<boolean>`diff_id in ${versions}`,
  });
  await deleteInBatches(store, { table: 'merge_request_diffs', key: ['id'], where: ofRequests });
};

/** @returns whether there were any */
const purgeTargets = async (store: Store, table: Targets, projectId: number): Promise<boolean> => {
  const ids = await nextIds(store, table, projectId);
  if (ids.length === 0) return false;
  const { type, closing, index } = kinds[table];
  for (const [links, ...key] of linked) {
    await deleteInBatches(store, { table: links, key, where: targeted(type, ids) });
  }
  await deleteInBatches(store, {
    table: 'merge_requests_closing_issues',
    key: ['issue_id', 'merge_request_id'],
    where: sql<boolean>`${sql.ref(closing)} in (${sql.join(ids)})`,
  });
  if (table === 'merge_requests') await purgeVersions(store, ids);
  await store.write(async ({ db, dialect }) => {
    if (dialect.engine === 'sqlite') {
      await sql`delete from ${sql.table(index)} where rowid in (${sql.join(ids)})`.execute(db);
    }
    await db.deleteFrom(table).where('id', 'in', ids).execute();
  });
  return true;
};

/** @returns whether there was anything */
const purgeSome = async (store: Store, projectId: number): Promise<boolean> =>
  (await purgeNotes(store, projectId)) ||
  (await purgeTargets(store, 'issues', projectId)) ||
  (await purgeTargets(store, 'merge_requests', projectId));

/** Deletes the runners and deploy keys that no other project has. */
const purgeUnshared = async (store: Store, projectId: number): Promise<void> => {
  await deleteInBatches(store, {
    table: 'runners',
    key: ['id'],
    where: sql<boolean>`runner_type = 'project_type'
      and id in (select runner_id from runner_projects where project_id = ${projectId})
      and not exists (select 1 from runner_projects as others
        where others.runner_id = runners.id and others.project_id <> ${projectId})`,
  });
  await deleteInBatches(store, {
    table: 'keys',
    key: ['id'],
    where: sql<boolean>`user_id is null and shared = 0
      and id in (select key_id from deploy_key_projects where project_id = ${projectId})
      and not exists (select 1 from deploy_key_projects as others
        where others.key_id = keys.id and others.project_id <> ${projectId})`,
  });
};

const purgeRest = async (store: Store, projectId: number): Promise<void> => {
  const labels = sql`(select id from labels where project_id = ${projectId})`;
  const ofProject = sql<boolean>`project_id = ${projectId}`;
  await deleteInBatches(store, {
    table: 'subscriptions',
    key: ['target_type', 'target_id', 'user_id'],
    where: sql<boolean>`target_type = 'Label' and target_id in ${labels}`,
  });
  await deleteInBatches(store, {
    table: 'label_links',
    key: ['target_type', 'target_id', 'label_id'],
    where: sql<boolean>`label_id in ${labels}`,
  });
  // Running rows are deleted with their pipelines, these with their jobs.
  for (const table of [
    'commit_statuses',
    'artifacts',
    'jobs',
    'pipelines',
    'job_configs',
    'deployments',
    'environments',
  ]) {
    await deleteInBatches(store, { table, key: ['id'], where: ofProject });
  }
  await purgeUnshared(store, projectId);
  for (const table of [
    'labels',
    'milestones',
    'todos',
    'snippets',
    'uploads',
    'commit_comments',
    'notification_settings',
    'activities',
    'badges',
    'code_files',
  ]) {
    await deleteInBatches(store, { table, key: ['id'], where: ofProject });
  }
  await deleteInBatches(store, { table: 'project_stars', key: ['project_id', 'user_id'], where: ofProject });
  const membership = sql<boolean>`source_type = 'Project' and source_id = ${projectId}`;
  for (const table of ['members', 'group_links', 'invitations', 'variables']) {
    await deleteInBatches(store, { table, key: ['id'], where: membership });
  }
  await store.write(async (tx) => {
    const [removed] = await tx.db
      .deleteFrom('projects')
      .where('id', '=', projectId)
      .returning('avatar')
      .execute();
    await enqueueAvatarRemoval(tx, removed?.avatar ?? null);
  });
};

/** Returns the location of the repository to remove; null if there is none. */
const placeToRemove = async (store: Store, projectId: number): Promise<RepositoryLocation | null> => {
  const row = await store.db
    .selectFrom('projects')
    .select(['projects.id', ...repositoryColumns])
    .where('id', '=', projectId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst();
  return row ?? null;
};

/**
 * Deletes a part of the project's rows.
 * @param removeFiles called with the place of the repository before the last row is deleted, so that no repository is
 * forgotten
 * @returns whether nothing is left; false: call again
 */
export const purgeProject = async (
  store: Store,
  projectId: number,
  removeFiles: (location: RepositoryLocation) => Promise<void> = async () => undefined,
): Promise<boolean> => {
  const location = await placeToRemove(store, projectId);
  if (location === null) return true;
  for (let rounds = 0; rounds < maxRounds; rounds += 1) {
    const more = await purgeSome(store, projectId);
    if (!more) {
      await removeFiles(location);
      await purgeRest(store, projectId);
      return true;
    }
  }
  return false;
};
