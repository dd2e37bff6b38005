/** Stores the reviewers of merge requests and the state of their reviews. */
import { type Selectable, sql } from 'kysely';
import { canSeeMergeRequests } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { insertRows } from '../../../platform/db/insert.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { ReviewersTable } from '../../../platform/db/schema/review.ts';
import { type Page, type PageRequest, withTotal } from '../../../platform/http/page.ts';
import {
  type RepeatedRequest,
  type ReviewersChange,
  changedPeople,
} from '../../../planning/issuables/shared_edits.ts';
import type { Linked } from '../../../planning/issuables/label_assignee_links.ts';
import type { Target } from '../../../planning/issuables/target.ts';
import type { LoadedMergeRequest } from '../find.ts';

type ReviewerState = ReviewersTable['state'];

export type ReviewerEdit = {
  reviewer_ids?: number[];
  /** Reviewers whose review is requested again, regardless of their state. */
  review_requested_ids?: number[];
};

const ofTarget = sql<boolean>`target_type = 'MergeRequest'`;

/** Replaces the reviewers `before` of a merge request by `after`. Reviewers in both keep their state. */
export const setReviewers = async (
  tx: Tx,
  { id, created_at }: Linked,
  before: readonly number[],
  after: readonly number[],
): Promise<void> => {
  const removed = before.filter((one) => !after.includes(one));
  const added = after.filter((one) => !before.includes(one));
  if (removed.length > 0) {
    const links = tx.db.deleteFrom('reviewers').where(ofTarget).where('target_id', '=', id);
    await links.where('user_id', 'in', removed).execute();
  }
  if (added.length === 0) return;
  const links = tx.db.selectFrom('reviewers').where(ofTarget).where('target_id', '=', id);
  const last = await links.select(({ fn }) => fn.max('position').as('position')).executeTakeFirst();
  const first = (last?.position ?? -1) + 1;
  const target = { target_type: 'MergeRequest' as const, target_id: id, target_created_at: created_at };
  const rows = added.map((user_id, at) => {
    return { ...target, user_id, position: first + at, state: 'unreviewed' as const, created_at: tx.now };
  });
  await insertRows(tx.db, 'reviewers', rows);
};

/** Resets the state of reviewers and returns the reviewers who had reviewed. */
const requestReviewAgain = async (
  tx: Tx,
  { id }: Target,
  ids: readonly number[],
): Promise<RepeatedRequest[]> => {
  if (ids.length === 0) return [];
  const reviewed = await tx.db
    .selectFrom('reviewers')
    .select(['user_id', 'state'])
    .where(ofTarget)
    .where('target_id', '=', id)
    .where('user_id', 'in', ids)
    .where('state', '<>', 'unreviewed')
    .orderBy('position')
    .orderBy('user_id')
    .execute();
  if (reviewed.length === 0) return [];
  await tx.db
    .updateTable('reviewers')
    .set({ state: 'unreviewed', created_at: tx.now })
    .where(ofTarget)
    .where('target_id', '=', id)
    .where(
      'user_id',
      'in',
      reviewed.map(({ user_id }) => user_id),
    )
    .execute();
  return reviewed;
};

/**
 * Stores the reviewers of an edit. Ignores users who do not exist or cannot see the merge request, as for assignees.
 * @returns ids of the requested reviewers before and after, without those who are asked again before; null if unchanged
 */
export const editReviewers = async (
  tx: Tx,
  { merge_request, project, target }: LoadedMergeRequest,
  { reviewer_ids, review_requested_ids = [] }: ReviewerEdit,
): Promise<ReviewersChange> => {
  const before = merge_request.reviewers.map(({ id }) => id);
  const change = await changedPeople(tx, project, { before, ids: reviewer_ids }, (viewer) =>
    canSeeMergeRequests(viewer, project),
  );
  const after = change?.after ?? before;
  const requestedAgain = await requestReviewAgain(
    tx,
    target,
    review_requested_ids.filter((id) => before.includes(id) && after.includes(id)),
  );
  await setReviewers(tx, target, before, after);
  const isSame = after.length === before.length && after.every((id) => before.includes(id));
  if (isSame && requestedAgain.length === 0) return null;
  const waiting = before.filter((id) => !requestedAgain.some(({ user_id }) => user_id === id));
  return { before: waiting, after, requestedAgain };
};

/** Sets the review state of a user. Does nothing if the user is not a reviewer. */
export const setReviewerState = async (
  tx: Tx,
  { id }: Pick<Target, 'id'>,
  userId: number,
  { state, from }: { state: ReviewerState; from?: ReviewerState },
): Promise<void> => {
  const link = tx.db.updateTable('reviewers').set({ state }).where(ofTarget).where('target_id', '=', id);
  const own = link.where('user_id', '=', userId).where('state', '<>', state);
  await (from === undefined ? own : own.where('state', '=', from)).execute();
};

/** Makes a user a reviewer, unless they already are. */
export const addReviewer = async (tx: Tx, link: Linked, userId: number): Promise<void> => {
  const own = tx.db
    .selectFrom('reviewers')
    .select('user_id')
    .where(ofTarget)
    .where('target_id', '=', link.id);
  const existing = await own.where('user_id', '=', userId).executeTakeFirst();
  if (existing === undefined) await setReviewers(tx, link, [], [userId]);
};

const requestedChanges = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('reviewers')
    .select('user_id')
    .where(ofTarget)
    .where('target_id', '=', id)
    .where('state', '=', 'requested_changes')
    .limit(1)
    .compile(),
);

/** Returns whether a reviewer waits for changes, which blocks the merge. */
export const areChangesRequested = async (db: Reader, mergeRequestId: number): Promise<boolean> =>
  (await requestedChanges(db, { id: mergeRequestId })).length > 0;

export type Reviewer = Pick<Selectable<ReviewersTable>, 'user_id' | 'state' | 'created_at'>;

/** Lists the reviewers of a merge request in the order of their requests. */
export const listReviewers = async (
  db: Reader,
  { id }: Pick<Target, 'id'>,
  page: PageRequest,
): Promise<Page<Reviewer>> => {
  const reviewers = db.selectFrom('reviewers').where(ofTarget).where('target_id', '=', id);
  const items = await reviewers
    .select(['user_id', 'state', 'created_at'])
    .orderBy('position')
    .orderBy('user_id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return await withTotal(
    page,
    items,
    async () =>
      await reviewers.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
};
