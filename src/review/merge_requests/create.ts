import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { canSeeMergeRequests, hasFeature } from '../../core/access/visible.ts';
import { insertRow } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { forbidden } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { type Acted, withQuickActions } from '../../planning/issuables/apply_quick_actions.ts';
import { keepAssignable } from '../../planning/issuables/keep_assignable.ts';
import { withoutAdminFields } from '../../planning/issuables/shared_edits.ts';
import { type CreateInput, keepPermitted, newColumns } from '../../planning/issuables/fields.ts';
import { setAssignees, setLabels } from '../../planning/issuables/label_assignee_links.ts';
import { recordFirstValues } from '../../planning/issuables/record_resource_events.ts';
import { storeSearchText } from '../../planning/issuables/search/search.ts';
import { checkTitle } from '../../planning/issuables/text/title.ts';
import { findOrCreateLabels } from '../../projects/labels/find_by_title.ts';
import { findAssignableMilestone } from '../../projects/milestones/find_assignable.ts';
import { addCrossReferences } from '../../planning/notes/cross_references.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';
import { iidTurn, takeIid } from '../../projects/projects/take_iid.ts';
import { setSubscribed } from '../../planning/subscriptions/subscriptions.ts';
import { logTime } from '../../planning/time_tracking/log_time.ts';
import { addTodosForNewRecord } from '../../planning/todos/notify_assignees.ts';
import {
  type Pair,
  noMergeRequests,
  requireBranches,
  requireDifferentBranches,
  requireFork,
  requireNoDuplicate,
} from './check_branches.ts';
import { mergeRequestFields } from './fields.ts';
import { storeClosingIssues } from './issues/closing_references.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from './find.ts';
import { type Branches, readHeads } from './refresh/branch_heads.ts';
import { setReviewers } from './approvals/reviewers.ts';
import type { MergeRequestRow } from './rows.ts';
import { type PreparedVersion, insertVersion, prepareVersion } from './versions/prepare_version.ts';

/** The input of a new merge request. */
export type NewMergeRequest = CreateInput<typeof mergeRequestFields> & {
  source_branch: string;
  target_branch: string;
  title: string;
  /** A project of the same fork network; the source project by default. */
  target_project_id?: number | null;
  assignee_ids?: number[];
  reviewer_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
};

type ActedInput = NewMergeRequest & Acted;

/** Loads the target project; 404 if the caller cannot see it. */
const findTarget = async (call: Call, source: Project, id: number | null | undefined): Promise<Project> =>
  id === undefined || id === null || id === source.id ? source : await findProject(call, id);

const toPair = (source: Project, target: Project, input: NewMergeRequest): Pair => ({
  source_project_id: source.id,
  source_branch: input.source_branch,
  project_id: target.id,
  target_branch: input.target_branch,
});

/** Throws if the caller may not open a request for these branches, with checks in the order of the contract. */
const requireAllowed = async (call: Call, source: Project, target: Project, pair: Pair): Promise<void> => {
  const isOn = hasFeature(call.viewer, target, 'merge_requests_access_level');
  if (isOn && !may(call.viewer, 'create_merge_request_in', target)) throw forbidden();
  requireDifferentBranches(pair);
  await requireNoDuplicate(call.db, pair);
  requireFork(source, target);
  if (!isOn) throw noMergeRequests();
};

/** Compares the branches and keeps the commits in the target repository. */
const prepare = async ({ platform }: Call, branches: Branches): Promise<PreparedVersion> => {
  for (;;) {
    const heads = await readHeads(platform, branches);
    requireBranches(heads);
    const prepared = await prepareVersion(platform, { ...branches, heads });
    if (prepared !== null) return prepared;
  }
};

const isSquashed = ({ squash_option }: Project, squash: boolean | undefined): boolean => {
  if (squash_option === 'always' || squash_option === 'never') return squash_option === 'always';
  return squash ?? squash_option === 'default_on';
};

const insertRequest = async (tx: Tx, target: Project, actor: Actor, fields: ActedInput & { pair: Pair }) => {
  const { milestone_id: requestedId = null } = fields;
  const milestone = requestedId === null ? null : await findAssignableMilestone(tx.db, target, requestedId);
  const row = {
    ...newColumns<MergeRequestRow, typeof mergeRequestFields>(mergeRequestFields, fields),
    ...fields.pair,
    iid: await takeIid(tx, target.id, 'merge_request'),
    title: fields.title,
    state: 'opened' as const,
    author_id: actor.user.id,
    milestone_id: milestone?.id ?? null,
    merge_status: 'unchecked' as const,
    checked_source_sha: null,
    checked_target_sha: null,
    diff_id: null,
    head_sha: null,
    merge_commit_sha: null,
    squash_commit_sha: null,
    squash: toFlag(isSquashed(target, fields.squash)),
    merge_user_id: null,
    should_remove_source_branch: null,
    merge_error: null,
    time_estimate: fields.time_estimate ?? 0,
    total_time_spent: fields.time_spent ?? 0,
    merged_at: null,
    merged_by_id: null,
    closed_at: null,
    closed_by_id: null,
    created_at: tx.now,
    updated_at: tx.now,
    deleted_at: null,
  };
  return { id: await insertRow(tx.db, 'merge_requests', row), ...row };
};

type Row = Awaited<ReturnType<typeof insertRequest>>;

const storeLinks = async (tx: Tx, actor: Actor, target: Project, row: Row & { fields: ActedInput }) => {
  const { labels = [], assignee_ids = [], reviewer_ids = [] } = row.fields;
  const linked = { type: 'MergeRequest' as const, id: row.id, created_at: row.created_at };
  const storedLabels = labels.length === 0 ? [] : await findOrCreateLabels(tx, actor, target, labels);
  const labelIds = storedLabels.map(({ id }) => id);
  await setLabels(tx, linked, [], labelIds);
  await recordFirstValues(tx, { target: linked, user_id: actor.user.id }, { ...row, labelIds });
  const seeing = async (ids: number[]) =>
    await keepAssignable(tx, target, ids, (viewer) => canSeeMergeRequests(viewer, target));
  await setAssignees(tx, linked, [], await seeing(assignee_ids));
  await setReviewers(tx, linked, [], await seeing(reviewer_ids));
};

/** Stores what only quick actions can set: spent time and the subscription. */
const storeWords = async (tx: Tx, actor: Actor, { target }: LoadedMergeRequest, fields: ActedInput) => {
  const { time_spent = 0, subscribed } = fields;
  if (time_spent > 0) await logTime(tx, target, actor.user.id, { seconds: time_spent });
  if (subscribed !== undefined) await setSubscribed(tx, actor.user.id, target, subscribed);
};

type NewRecord = { target: Project; fields: ActedInput; pair: Pair; prepared: PreparedVersion };

const store = async (
  call: Call,
  { target, fields, pair, prepared }: NewRecord,
): Promise<LoadedMergeRequest> => {
  const actor = requireActor(call);
  return await call.write(
    async (tx) => {
      await requireNoDuplicate(tx.db, pair);
      const row = await insertRequest(tx, target, actor, { ...fields, pair });
      await storeSearchText(tx, 'MergeRequest', row, true);
      await storeLinks(tx, actor, target, { ...row, fields });
      await insertVersion(tx, row, { prepared, pushed_by_id: actor.user.id });
      await recordEvent(tx, actor, {
        kind: 'merge_request.created',
        project_id: target.id,
        target_type: 'MergeRequest',
        target_id: row.id,
        data: { iid: row.iid, title: row.title },
      });
      const loaded = await reloadMergeRequest(tx.db, target, row.id);
      await storeClosingIssues(call.platform, tx, loaded, call.baseUrl);
      await storeWords(tx, actor, loaded, fields);
      const reviewer_ids = loaded.merge_request.reviewers.map(({ id }) => id);
      await addTodosForNewRecord(tx, actor.user.id, loaded, { ...row, todo: fields.todo, reviewer_ids });
      await addCrossReferences(tx, call, loaded, { before: null, after: row });
      return loaded;
    },
    iidTurn(target.id, 'merge_request'),
  );
};

/** Stores the request. A unique index rejects a concurrent duplicate that passed the check. */
const storeOnce = async (call: Call, making: NewRecord): Promise<LoadedMergeRequest> => {
  try {
    return await store(call, making);
  } catch (error) {
    if (call.platform.store.isUniqueViolation(error)) await requireNoDuplicate(call.db, making.pair);
    throw error;
  }
};

/**
 * Creates a merge request from a branch of `source`, with its first version and all side effects. Runs the quick
 * actions of its description that the caller may run.
 * @throws Failure 400 for an invalid title or branch, 403, 404 for the target, 409 for a duplicate, 422 for unrelated
 *   projects or equal branches
 */
export const createMergeRequest = async (
  call: Call,
  source: Project,
  input: NewMergeRequest,
): Promise<LoadedMergeRequest> => {
  const title = checkTitle(input.title);
  const target = await findTarget(call, source, input.target_project_id);
  const pair = toPair(source, target, input);
  await requireAllowed(call, source, target, pair);
  const { source_branch, target_branch } = input;
  const prepared = await prepare(call, { source, target, source_branch, target_branch });
  const acted: ActedInput = await withQuickActions(
    { call, project: target, type: 'MergeRequest' },
    { ...input, title },
  );
  const permitted = keepPermitted(mergeRequestFields, { viewer: call.viewer, project: target }, acted);
  const fields = may(call.viewer, 'admin_merge_request', target) ? permitted : withoutAdminFields(permitted);
  return await storeOnce(call, { target, fields, pair, prepared });
};
