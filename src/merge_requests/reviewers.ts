/** Who is asked to review a merge request, and how far they are. */
import { type Selectable, sql } from 'kysely';
import { canSeeMergeRequests } from '../access/visible.ts';
import { insertRows } from '../db/insert.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { ReviewersTable } from '../db/schema.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { type PeopleChange, changedPeople } from '../issuables/edit.ts';
import type { Linked } from '../issuables/links.ts';
import type { Target } from '../issuables/target.ts';
import type { FoundMergeRequest } from './find.ts';

type ReviewerState = ReviewersTable['state'];

export type ReviewerEdit = {
  reviewer_ids?: number[];
  /** Reviewers who are asked once more, whatever they have done. */
  review_requested_ids?: number[];
};

const ofTarget = sql<boolean>`target_type = 'MergeRequest'`;

/** Makes `after` the reviewers of a merge request that had `before`. Those who stay keep their state. */
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

/** Ids of those who had reviewed, and are asked again. */
const askAgain = async (tx: Tx, { id }: Target, ids: readonly number[]): Promise<number[]> => {
  if (ids.length === 0) return [];
  const rows = await tx.db
    .updateTable('reviewers')
    .set({ state: 'unreviewed', created_at: tx.now })
    .where(ofTarget)
    .where('target_id', '=', id)
    .where('user_id', 'in', ids)
    .where('state', '<>', 'unreviewed')
    .returning('user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
};

/**
 * Stores the reviewers of an edit. Users who do not exist or do not see the merge request are ignored, as for assignees.
 * @returns who is asked, now and before; null: unchanged
 */
export const editReviewers = async (
  tx: Tx,
  { merge_request, project, target }: FoundMergeRequest,
  { reviewer_ids, review_requested_ids = [] }: ReviewerEdit,
): Promise<PeopleChange> => {
  const before = merge_request.reviewers.map(({ id }) => id);
  const change = await changedPeople(tx, project, { before, ids: reviewer_ids }, (viewer) =>
    canSeeMergeRequests(viewer, project),
  );
  const after = change?.after ?? before;
  const asked = await askAgain(
    tx,
    target,
    review_requested_ids.filter((id) => before.includes(id) && after.includes(id)),
  );
  await setReviewers(tx, target, before, after);
  const isSame = after.length === before.length && after.every((id) => before.includes(id));
  return isSame && asked.length === 0 ? null : { before: before.filter((id) => !asked.includes(id)), after };
};

/** Notes what a reviewer has done. Nothing happens for a user who is no reviewer. */
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

export type Reviewer = Pick<Selectable<ReviewersTable>, 'user_id' | 'state' | 'created_at'>;

/** Reviewers of a merge request in the order in which they were asked. */
export const listReviewers = async (
  db: Reader,
  { id }: Pick<Target, 'id'>,
  { limit, offset }: PageRequest,
): Promise<Page<Reviewer>> => {
  const all = db.selectFrom('reviewers').where(ofTarget).where('target_id', '=', id);
  const [{ total }, items] = await Promise.all([
    all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    all
      .select(['user_id', 'state', 'created_at'])
      .orderBy('position')
      .orderBy('user_id')
      .limit(limit)
      .offset(offset)
      .execute(),
  ]);
  return { items, total };
};
