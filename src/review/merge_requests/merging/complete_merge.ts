/** Completes a merge in the database once git has merged. Recovery of dead processes uses it, too. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { type Cause, recordEvent } from '../../../core/events/record_event.ts';
import { recordStateChange } from '../../../planning/issuables/record_resource_events.ts';
import { stateText } from '../../../planning/issuables/text/system_note_text.ts';
import { addSystemNotes } from '../../../planning/notes/add_system_notes.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import type { Completion } from '../../../code/repository/refs/operations.ts';
import { finishTodos } from '../../../planning/todos/add_todos.ts';
import { closeIssuesAs, loadClosingIssues } from '../issues/closing_references.ts';
import { type LoadedMergeRequest, lockMergeRequest, reloadMergeRequest } from '../find.ts';
import { removeSourceWork } from './remove_source_branch.ts';

/** Data to complete a merge operation. */
export type MergeData = {
  merge_request_id: number;
  /** null: merged by a push, without a merge commit. */
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
  source_sha: string;
  /** User on whose behalf the source branch is removed; null if it is kept. */
  remove_source_as: number | null;
  /** As the merger sent it; absent: the stored value stays. */
  should_remove_source_branch?: boolean;
};

const storeMerged = async (
  tx: Tx,
  { merge_request, project }: LoadedMergeRequest,
  userId: number | null,
  { merge_commit_sha, squash_commit_sha, source_sha, should_remove_source_branch: isRemoved }: MergeData,
): Promise<LoadedMergeRequest> => {
  await tx.db
    .updateTable('merge_requests')
    .set({
      state: 'merged',
      merge_status: 'can_be_merged',
      merge_commit_sha,
      squash_commit_sha,
      head_sha: source_sha,
      merge_when_pipeline_succeeds: 0,
      merge_error: null,
      ...(isRemoved !== undefined && { should_remove_source_branch: isRemoved ? 1 : 0 }),
      merged_at: tx.now,
      merged_by_id: userId,
      // It never goes back, even if the clock does.
      updated_at: sql<number>`case when updated_at < ${tx.now} then ${tx.now} else updated_at + 1 end`,
    })
    .where('id', '=', merge_request.id)
    .execute();
  return await reloadMergeRequest(tx.db, project, merge_request.id);
};

/** Adds the note, finishes todos and closes issues on behalf of the user who merged. */
const recordMergeEffects = async (
  platform: Platform,
  tx: Tx,
  cause: Cause,
  merged: LoadedMergeRequest,
): Promise<void> => {
  const { merge_request, project, target } = merged;
  await addSystemNotes(tx, cause.user.id, target, [stateText('opened', 'merged')]);
  await finishTodos(tx, cause.user.id, target);
  const { iid } = merge_request;
  await closeIssuesAs(tx, cause, await loadClosingIssues(platform, tx.db, merged), ({ id }) =>
    id === project.id ? { merge_request_iid: iid } : { merge_request_iid: iid, project: project.full_path },
  );
};

/** Marks a request as merged. Does nothing if it is merged already or deleted. */
export const markMerged = async (
  platform: Platform,
  tx: Tx,
  { project_id, cause }: { project_id: number; cause: Cause | null },
  data: MergeData,
): Promise<void> => {
  const project = await loadProject(tx.db, project_id);
  const row = await tx.db
    .selectFrom('merge_requests')
    .select('deleted_at')
    .where('id', '=', data.merge_request_id)
    .executeTakeFirst();
  if (project === null || row === undefined || row.deleted_at !== null) return;
  const loaded = await lockMergeRequest(tx, project, data.merge_request_id);
  if (loaded.merge_request.state === 'merged') return;
  const merged = await storeMerged(tx, loaded, cause?.user.id ?? null, data);
  if (cause !== null) await recordMergeEffects(platform, tx, cause, merged);
  await recordStateChange(tx, { target: merged.target, user_id: cause?.user.id ?? null }, 'merged');
  await recordEvent(tx, cause, {
    kind: 'merge_request.merged',
    project_id,
    target_type: 'MergeRequest',
    target_id: merged.merge_request.id,
    data: { state: [loaded.merge_request.state, 'merged'], merge_commit_sha: data.merge_commit_sha },
  });
  if (data.remove_source_as === null) return;
  await enqueue(tx, removeSourceWork, {
    merge_request_id: data.merge_request_id,
    user_id: data.remove_source_as,
    sha: data.source_sha,
  });
};

/** Completes an operation of kind `merge`. */
export const mergeCompletion =
  (platform: Platform): Completion =>
  async (tx, { project_id, cause, data }) =>
    await markMerged(platform, tx, { project_id, cause }, data as MergeData);
