/** Creates merge requests for a measurement: many rows without code, and one with a repository. */
import type { Insertable } from 'kysely';
import { sql } from 'kysely';
import type { Store, Tx } from '../../src/platform/db/open.ts';
import type { MergeRequestsTable } from '../../src/platform/db/schema/review.ts';
import { foldCase } from '../../src/platform/unicode.ts';
import { api } from './root_api.ts';
import { type MadeIssue, makeIssue } from './draw_issues.ts';
import { type IssueRef, type World, bulkInsert } from './seed_database.ts';

type Made = { id: number; made: MadeIssue };

const none = {
  checked_source_sha: null,
  checked_target_sha: null,
  diff_id: null,
  head_sha: null,
  merge_commit_sha: null,
  squash_commit_sha: null,
  merge_user_id: null,
  should_remove_source_branch: null,
  merge_error: null,
  merged_by_id: null,
  closed_at: null,
  closed_by_id: null,
  deleted_at: null,
};

const rowOf = (world: World, { id, made }: Made): Insertable<MergeRequestsTable> => ({
  ...none,
  id,
  project_id: world.project_id,
  source_project_id: world.project_id,
  iid: id,
  title: made.title,
  description: made.description,
  state: made.state === 'opened' ? 'opened' : 'merged',
  source_branch: `feature-${id}`,
  target_branch: 'main',
  author_id: world.users[made.author]?.id ?? 1,
  milestone_id: made.milestone === null ? null : (world.milestones[made.milestone]?.id ?? null),
  merge_status: 'can_be_merged',
  merged_at: made.state === 'opened' ? null : made.updated_at,
  created_at: made.created_at,
  updated_at: made.updated_at,
});

const insertBatch = async (tx: Tx, world: World, batch: Made[]): Promise<void> => {
  const target = ({ id, made }: Made) => ({
    target_type: 'MergeRequest' as const,
    target_id: id,
    target_created_at: made.created_at,
  });
  await bulkInsert(
    tx,
    'merge_requests',
    batch.map((one) => rowOf(world, one)),
  );
  await bulkInsert(
    tx,
    'merge_request_search',
    batch.map(({ id, made }) => ({
      merge_request_id: id,
      title: foldCase(made.title),
      description: foldCase(made.description),
      indexed: 1 as const,
    })),
  );
  await bulkInsert(
    tx,
    'label_links',
    batch.flatMap((one) =>
      one.made.labels.map((index) => ({ ...target(one), label_id: world.labels[index]?.id ?? 0 })),
    ),
  );
  await bulkInsert(
    tx,
    'assignees',
    batch.flatMap((one) =>
      one.made.assignees.map((index, position) => ({
        ...target(one),
        user_id: world.users[index]?.id ?? 1,
        position,
      })),
    ),
  );
};

const setIids = async (tx: Tx, { project_id }: World, total: number): Promise<void> => {
  await tx.db
    .insertInto('iid_sequences')
    .values({ project_id, kind: 'merge_request', last: total })
    .execute();
  if (tx.dialect.engine === 'postgres') {
    await sql`select setval(pg_get_serial_sequence('merge_requests', 'id'), ${total})`.execute(tx.db);
  }
};

const batchSize = 1000;

/** Creates merge requests. Returns the 100 newest, and a sample of the merged ones. */
export const fillMergeRequests = async (
  store: Store,
  world: World,
  total: number,
): Promise<{ newest: IssueRef[]; merged: IssueRef[] }> => {
  for (let first = 1; first <= total; first += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, total - first + 1) }, (_none, at) => ({
      id: first + at,
      made: makeIssue(first + at, total),
    }));
    await store.write(async (tx) => await insertBatch(tx, world, batch));
  }
  await store.write(async (tx) => await setIids(tx, world, total));
  const { rows: newest } = await sql<IssueRef>`select id, iid from merge_requests
    where project_id = ${world.project_id} order by created_at desc, id desc limit 100`.execute(store.db);
  const { rows: merged } = await sql<IssueRef>`select id, iid from merge_requests
    where project_id = ${world.project_id} and state = 'merged' and id % 250 < 2`.execute(store.db);
  return { newest, merged };
};

const textOf = (file: number, edition: number): string =>
  Array.from({ length: 60 }, (_none, line) =>
    line === 30 ? `edition ${edition}` : `line ${line} of ${file}`,
  ).join('\n');

const files = 50;
const commits = 20;

const actions = (action: 'create' | 'update', edition: number, first: number, count: number) =>
  Array.from({ length: count }, (_none, at) => ({
    action,
    file_path: `folder/file-${first + at}.txt`,
    content: textOf(first + at, edition),
  }));

/** One open request of 20 commits that change 50 files, made through the API. @returns its path in the API, and of its page */
export const makeWithCode = async (port: number): Promise<{ path: string; iid: number; page: string }> => {
  const { id, path_with_namespace } = await api<{ id: number; path_with_namespace: string }>(
    port,
    'POST /projects',
    {
      name: 'with code',
      visibility: 'public',
    },
  );
  const commit = async (branch: string, more: object): Promise<unknown> =>
    await api(port, `POST /projects/${id}/repository/commits`, { branch, commit_message: 'Change', ...more });
  await commit('main', { actions: actions('create', 0, 0, files) });
  await commit('feature', { start_branch: 'main', actions: actions('update', 1, 0, files) });
  for (let at = 1; at < commits; at += 1) {
    await commit('feature', { actions: actions('update', at + 1, at, 1) });
  }
  const { iid } = await api<{ iid: number }>(port, `POST /projects/${id}/merge_requests`, {
    title: 'With code',
    source_branch: 'feature',
    target_branch: 'main',
  });
  return {
    path: `/api/v4/projects/${id}/merge_requests/${iid}`,
    iid,
    page: `/${path_with_namespace}/merge_requests/${iid}`,
  };
};
