/**
 * Merging when the pipeline of the head succeeds, or when all checks pass. The parameters of the merge are stored until
 * then.
 */
import type { Platform } from '../../../../core/platform.ts';
import { may } from '../../../../core/access/may.ts';
import type { Tx } from '../../../../platform/db/open.ts';
import { toFlag } from '../../../../platform/db/schema/column_types.ts';
import { Failure, unauthorized } from '../../../../platform/errors.ts';
import { type Cause, recordEvent } from '../../../../core/events/record_event.ts';
import { toShortId } from '../../../../code/repository/commits/json.ts';
import { addSystemNotes } from '../../../../planning/notes/add_system_notes.ts';
import { enqueueAutoMerge } from '../../../../planning/issuables/auto_merge_work.ts';
import { getNextUpdateTime } from '../../../../platform/time.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../../find.ts';
import type { MergeRequestRow } from '../../rows.ts';
import { noScheduledMerge } from './no_scheduled_merge.ts';
import { type MergeParams, type Merger, type MergeAttempt, prepareHeads } from '../merge.ts';
import { cannotBeMerged, mayMerge, otherHead, requireOpen } from '../rules.ts';
import { checkMergeStatus } from '../merge_status.ts';
import { writeUnlessMerging } from '../merge_lock.ts';

const recordDeferralEvent = async (
  tx: Tx,
  cause: Cause,
  { merge_request: { id, project_id } }: LoadedMergeRequest,
  deferred: boolean,
): Promise<void> =>
  await recordEvent(tx, cause, {
    kind: 'merge_request.updated',
    project_id,
    target_type: 'MergeRequest',
    target_id: id,
    data: { merge_when_pipeline_succeeds: [!deferred, deferred] },
  });

/** Returns the parameters of a scheduled merge. */
export const parseScheduledParams = ({ merge_params }: Pick<MergeRequestRow, 'merge_params'>): MergeParams =>
  JSON.parse(merge_params) as MergeParams;

/** Returns whether a scheduled merge waits for all checks, not only for the pipeline. */
export const waitsForChecks = (scheduled: Pick<MergeRequestRow, 'merge_params'>): boolean =>
  parseScheduledParams(scheduled).auto_merge_strategy === 'merge_when_checks_pass';

const enabledText = (head: string | null, { auto_merge_strategy }: MergeParams): string => {
  const sha = toShortId(head ?? '');
  return auto_merge_strategy === 'merge_when_checks_pass'
    ? `enabled an automatic merge when all merge checks for ${sha} pass`
    : `enabled an automatic merge when the pipeline for ${sha} succeeds`;
};

const storeDeferred = async (
  tx: Tx,
  loaded: LoadedMergeRequest,
  { cause }: Merger,
  params: MergeParams,
): Promise<void> => {
  const { id, merge_when_pipeline_succeeds, head_sha } = loaded.merge_request;
  const { should_remove_source_branch: isRemoved } = params;
  const merge_params = JSON.stringify(params);
  await tx.db
    .updateTable('merge_requests')
    .set({
      merge_when_pipeline_succeeds: 1,
      merge_user_id: cause.user.id,
      merge_params,
      should_remove_source_branch: isRemoved === undefined ? null : toFlag(isRemoved),
      updated_at: getNextUpdateTime(loaded.merge_request, tx.now),
    })
    .where('id', '=', id)
    .execute();
  // The awaited event may have happened since the check.
  await enqueueAutoMerge(tx, id);
  const isRepeated = merge_when_pipeline_succeeds === 1;
  if (isRepeated && waitsForChecks(loaded.merge_request) === waitsForChecks({ merge_params })) return;
  await addSystemNotes(tx, cause.user.id, loaded.target, [enabledText(head_sha, params)]);
  if (isRepeated) return;
  await recordDeferralEvent(tx, cause, loaded, true);
};

/**
 * Schedules a merge for when the pipeline succeeds or all checks pass. A second call replaces the stored parameters.
 * @throws Failure 405, 406, 409
 */
export const deferMerge = async (attempt: MergeAttempt): Promise<LoadedMergeRequest> => {
  const { platform, loaded, merger, params } = attempt;
  const { project } = loaded;
  const { source_sha } = await prepareHeads(attempt);
  const { merge_request } = await reloadMergeRequest(platform.store.db, project, loaded.merge_request.id);
  const status = await checkMergeStatus(platform, merge_request, project);
  if (status === 'cannot_be_merged') throw cannotBeMerged();
  return await writeUnlessMerging(platform, merge_request, async (tx) => {
    const now = await reloadMergeRequest(tx.db, project, merge_request.id);
    await requireOpen(tx.db, merger.viewer, now);
    // Commits that were pushed meanwhile are not what the caller has seen.
    if (now.merge_request.head_sha !== source_sha) throw otherHead();
    await storeDeferred(tx, now, merger, params);
    return await reloadMergeRequest(tx.db, project, merge_request.id);
  });
};

const requireDeferred = ({ merge_request }: LoadedMergeRequest): void => {
  if (merge_request.state !== 'opened') {
    throw new Failure('method_not_allowed', { message: 'Method Not Allowed' });
  }
  if (merge_request.merge_when_pipeline_succeeds === 1) return;
  throw new Failure('not_acceptable', { message: "Can't cancel the automatic merge" });
};

/**
 * Cancels the scheduled merge of a request.
 * @throws Failure 401, 405, 406
 */
export const cancelDeferred = async (
  platform: Platform,
  { merge_request, project }: LoadedMergeRequest,
  { cause, viewer }: Merger,
): Promise<LoadedMergeRequest> =>
  await writeUnlessMerging(platform, merge_request, async (tx) => {
    const now = await reloadMergeRequest(tx.db, project, merge_request.id);
    const isAuthor =
      merge_request.author_id === viewer.user_id && may(viewer, 'update_merge_request', project, now.target);
    if (!isAuthor && !(await mayMerge(tx.db, viewer, now))) throw unauthorized();
    requireDeferred(now);
    await tx.db
      .updateTable('merge_requests')
      .set({ ...noScheduledMerge, updated_at: getNextUpdateTime(now.merge_request, tx.now) })
      .where('id', '=', merge_request.id)
      .execute();
    await addSystemNotes(tx, cause.user.id, now.target, ['canceled the automatic merge']);
    await recordDeferralEvent(tx, cause, now, false);
    return await reloadMergeRequest(tx.db, project, merge_request.id);
  });
