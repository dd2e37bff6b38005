/** Loads issues, merge requests, snippets, comments and emoji for snapshots. */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { loadDetailedStatus } from '../../../review/merge_requests/detailed_merge_status.ts';
import { loadAssigneeIds, loadLabelFacts, loadProjectFacts } from './load_common.ts';
import type { IssueFacts, MergeRequestFacts, Records } from './snapshot.ts';

const issueById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('issues').selectAll().where('id', '=', id).compile(),
);

export const loadIssueFacts = async (tx: Tx, id: number): Promise<IssueFacts | undefined> => {
  const [row] = await issueById(tx.db, { id });
  if (row === undefined) return undefined;
  const { revision: _revision, ...issue } = row;
  return {
    ...issue,
    labels: await loadLabelFacts(tx, 'Issue', id),
    assignee_ids: await loadAssigneeIds(tx, 'Issue', id),
  };
};

const loadReviewers = async ({ db }: Tx, id: number) =>
  await db
    .selectFrom('reviewers')
    .select(['user_id', 'state'])
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', id)
    .orderBy('position')
    .orderBy('user_id')
    .execute();

const hasOpenThread = async ({ db }: Tx, id: number): Promise<boolean> => {
  const row = await db
    .selectFrom('notes')
    .select('id')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', id)
    .where('resolvable', '=', 1)
    .where('resolved_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

const loadHeadPipeline = async ({ db }: Tx, id: number, sha: string | null): Promise<number | null> => {
  if (sha === null) return null;
  const row = await db
    .selectFrom('pipelines')
    .select(sql<number | null>`max(id)`.as('id'))
    .where('merge_request_id', '=', id)
    .where('sha', '=', sha)
    .executeTakeFirst();
  return row?.id ?? null;
};

export const loadMergeRequestFacts = async (tx: Tx, id: number): Promise<MergeRequestFacts | undefined> => {
  const row = await tx.db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  const { revision: _revision, ...request } = row;
  const isUnresolved = await hasOpenThread(tx, id);
  return {
    ...request,
    labels: await loadLabelFacts(tx, 'MergeRequest', id),
    assignee_ids: await loadAssigneeIds(tx, 'MergeRequest', id),
    reviewers: await loadReviewers(tx, id),
    source: await loadProjectFacts(tx, request.source_project_id),
    head_pipeline_id: await loadHeadPipeline(tx, id, request.head_sha),
    blocking_discussions_resolved: !isUnresolved,
    detailed_merge_status: await loadDetailedStatus(tx.db, row, { isUnresolved }),
  };
};

const loadSnippetFacts = async ({ db }: Tx, id: number): Promise<Pick<Records, 'snippet'>> => {
  const row = await db.selectFrom('snippets').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return {};
  const { user_agent: _userAgent, ip_address: _ipAddress, ...snippet } = row;
  return { snippet };
};

const loadSubject = async (tx: Tx, type: string, id: number): Promise<Records> => {
  if (type === 'Issue') {
    const issue = await loadIssueFacts(tx, id);
    return issue === undefined ? {} : { issue };
  }
  if (type === 'Snippet') return await loadSnippetFacts(tx, id);
  if (type !== 'MergeRequest') return {};
  const merge_request = await loadMergeRequestFacts(tx, id);
  return merge_request === undefined ? {} : { merge_request };
};

export const loadNoteRecords = async (tx: Tx, id: number): Promise<Records> => {
  const note = await tx.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst();
  return note === undefined ? {} : { note, ...(await loadSubject(tx, note.target_type, note.target_id)) };
};

export const loadCommentRecords = async ({ db }: Tx, id: number): Promise<Records> => {
  const row = await db.selectFrom('commit_comments').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? {} : { commit_comment: row };
};

type AwardData = { id: number; name: string; user_id?: number; awardable_type: string; awardable_id: number };

/** Loads an award, which may be gone, from what the log recorded of it. */
export const loadAwardRecords = async (
  tx: Tx,
  { data, actor_id }: { data: object; actor_id: number | null },
): Promise<Records> => {
  const { id, name, user_id = actor_id ?? 0, awardable_type, awardable_id } = data as AwardData;
  const award = { id, name, user_id, awardable_type, awardable_id, created_at: tx.now };
  const subject =
    awardable_type === 'Note'
      ? await loadNoteRecords(tx, awardable_id)
      : await loadSubject(tx, awardable_type, awardable_id);
  return { award, ...subject };
};
