import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { canSeeMergeRequests, hasFeature } from '../access/visible.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { forbidden } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { type Acted, withQuickActions } from '../issuables/actions.ts';
import { assignable } from '../issuables/assignable.ts';
import { withoutAdminFields } from '../issuables/edit.ts';
import { setAssignees, setLabels } from '../issuables/links.ts';
import { storeSearchText } from '../issuables/search.ts';
import { checkTitle } from '../issuables/title.ts';
import { findOrCreateLabels } from '../labels/by_title.ts';
import { assignableMilestone } from '../milestones/find.ts';
import { noteMentionsOf } from '../notes/cross_references.ts';
import { type Project, findProject } from '../projects/find.ts';
import { takeIid } from '../projects/take_iid.ts';
import { setSubscribed } from '../subscriptions/subscribed.ts';
import { logTime } from '../time_tracking/log.ts';
import { tellOfNew } from '../todos/tell.ts';
import {
  type Pair,
  noMergeRequests,
  requireBranches,
  requireDifferent,
  requireFork,
  requireNoOther,
} from './branches.ts';
import { storeClosingIssues } from './closing.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';
import { type Branches, readHeads } from './heads.ts';
import { setReviewers } from './reviewers.ts';
import { type PreparedVersion, insertVersion, prepareVersion } from './versions.ts';

/** What a caller gives of a new merge request. */
export type NewMergeRequest = {
  source_branch: string;
  target_branch: string;
  title: string;
  description?: string | null;
  /** Of the source project's fork network; absent: itself. */
  target_project_id?: number | null;
  assignee_ids?: number[];
  reviewer_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  remove_source_branch?: boolean;
  squash?: boolean;
};

type Given = NewMergeRequest & Acted;

/** The project to merge into. What is hidden from the caller is missing. */
const findTarget = async (call: Call, source: Project, id: number | null | undefined): Promise<Project> =>
  id === undefined || id === null || id === source.id ? source : await findProject(call, id);

const pairOf = (source: Project, target: Project, given: NewMergeRequest): Pair => ({
  source_project_id: source.id,
  source_branch: given.source_branch,
  project_id: target.id,
  target_branch: given.target_branch,
});

/** Throws where the two may not be brought together, in the order of the contract. */
const requireAllowed = async (call: Call, source: Project, target: Project, pair: Pair): Promise<void> => {
  const isOn = hasFeature(call.viewer, target, 'merge_requests_access_level');
  if (isOn && !may(call.viewer, 'create_merge_request_in', target)) throw forbidden();
  requireDifferent(pair);
  await requireNoOther(call.db, pair);
  requireFork(source, target);
  if (!isOn) throw noMergeRequests();
};

/** Looks at the branches, and makes what they bring stay. */
const prepare = async ({ platform }: Call, branches: Branches): Promise<PreparedVersion> => {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- again where a branch has gone just now
    const heads = await readHeads(platform, branches);
    requireBranches(heads);
    // oxlint-disable-next-line no-await-in-loop
    const prepared = await prepareVersion(platform, { ...branches, heads });
    if (prepared !== null) return prepared;
  }
};

const isSquashed = ({ squash_option }: Project, squash: boolean | undefined): boolean => {
  if (squash_option === 'always' || squash_option === 'never') return squash_option === 'always';
  return squash ?? squash_option === 'default_on';
};

const insertRequest = async (tx: Tx, target: Project, actor: Actor, given: Given & { pair: Pair }) => {
  const { milestone_id: wanted = null } = given;
  const milestone = wanted === null ? null : await assignableMilestone(tx.db, target, wanted);
  const row = {
    ...given.pair,
    iid: await takeIid(tx, target.id, 'merge_request'),
    title: given.title,
    description: given.description ?? null,
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
    squash: isSquashed(target, given.squash) ? (1 as const) : (0 as const),
    merge_user_id: null,
    should_remove_source_branch: null,
    force_remove_source_branch: given.remove_source_branch === true ? (1 as const) : (0 as const),
    merge_error: null,
    time_estimate: given.time_estimate ?? 0,
    total_time_spent: given.time_spent ?? 0,
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

const storeLinks = async (tx: Tx, actor: Actor, target: Project, row: Row & { given: Given }) => {
  const { labels = [], assignee_ids = [], reviewer_ids = [] } = row.given;
  const linked = { type: 'MergeRequest' as const, id: row.id, created_at: row.created_at };
  const found = labels.length === 0 ? [] : await findOrCreateLabels(tx, actor, target, labels);
  const labelIds = found.map(({ id }) => id);
  await setLabels(tx, linked, [], labelIds);
  const seeing = async (ids: number[]) =>
    await assignable(tx, target, ids, (viewer) => canSeeMergeRequests(viewer, target));
  await setAssignees(tx, linked, [], await seeing(assignee_ids));
  await setReviewers(tx, linked, [], await seeing(reviewer_ids));
};

/** What only quick actions bring along. */
const storeWords = async (tx: Tx, actor: Actor, { target }: FoundMergeRequest, given: Given) => {
  const { time_spent = 0, subscribed } = given;
  if (time_spent > 0) await logTime(tx, target, actor.user.id, time_spent);
  if (subscribed !== undefined) await setSubscribed(tx, actor.user.id, target, subscribed);
};

type Making = { target: Project; given: Given; pair: Pair; prepared: PreparedVersion };

const store = async (call: Call, { target, given, pair, prepared }: Making): Promise<FoundMergeRequest> => {
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    await requireNoOther(tx.db, pair);
    const row = await insertRequest(tx, target, actor, { ...given, pair });
    await storeSearchText(tx, 'MergeRequest', row, true);
    await storeLinks(tx, actor, target, { ...row, given });
    await insertVersion(tx, row, prepared);
    await recordEvent(tx, actor, {
      kind: 'merge_request.created',
      project_id: target.id,
      target_type: 'MergeRequest',
      target_id: row.id,
      data: { iid: row.iid, title: row.title },
    });
    const found = await reloadMergeRequest(tx.db, target, row.id);
    await storeClosingIssues(call.platform, tx, found, call.baseUrl);
    await storeWords(tx, actor, found, given);
    const reviewer_ids = found.merge_request.reviewers.map(({ id }) => id);
    await tellOfNew(tx, actor.user.id, found, { ...row, todo: given.todo, reviewer_ids });
    await noteMentionsOf(tx, call, found, { before: null, after: row });
    return found;
  });
};

/** Two that ask at once both find none before they write: the store refuses the second. */
const storeOnce = async (call: Call, making: Making): Promise<FoundMergeRequest> => {
  try {
    return await store(call, making);
  } catch (error) {
    if (call.platform.store.isUniqueViolation(error)) await requireNoOther(call.db, making.pair);
    throw error;
  }
};

/**
 * Creates a merge request from a branch of `source`, with its first version and all side effects. Quick actions in
 * its description are carried out, within what the caller may.
 * @throws Failure 400 for a title or a branch, 403, 404 for the target, 409 for one that there is, 422 for two projects
 *   or branches that cannot be brought together
 */
export const createMergeRequest = async (
  call: Call,
  source: Project,
  input: NewMergeRequest,
): Promise<FoundMergeRequest> => {
  const title = checkTitle(input.title);
  const target = await findTarget(call, source, input.target_project_id);
  const pair = pairOf(source, target, input);
  await requireAllowed(call, source, target, pair);
  const { source_branch, target_branch } = input;
  const prepared = await prepare(call, { source, target, source_branch, target_branch });
  const acted: Given = await withQuickActions(
    { call, project: target, type: 'MergeRequest' },
    { ...input, title },
  );
  const given = may(call.viewer, 'admin_merge_request', target) ? acted : withoutAdminFields(acted);
  return await storeOnce(call, { target, given, pair, prepared });
};
