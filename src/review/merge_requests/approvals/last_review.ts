/** Stores the head that each user last reviewed, and finds its version. */
import type { Call } from '../../../core/access/call.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { parsePosition } from '../../../planning/notes/position.ts';
import type { LoadedMergeRequest } from '../find.ts';
import type { VersionRow } from '../versions/json.ts';

/** Comments on the diff that are read for users who submitted no review. */
const maxComments = 100;

const commitPattern = /^[\da-f]{40}$/;

/** Stores that a user submitted a review of a head, unless it is not the id of a commit. */
export const storeReview = async (
  { db, now }: Tx,
  { id: merge_request_id }: { id: number },
  { user_id, head }: { user_id: number; head: string | null },
): Promise<void> => {
  if (head === null || !commitPattern.test(head)) return;
  await db
    .insertInto('merge_request_reviews')
    .values({ merge_request_id, user_id, head_sha: head, created_at: now })
    .onConflict((clash) =>
      clash.columns(['merge_request_id', 'user_id']).doUpdateSet({ head_sha: head, created_at: now }),
    )
    .execute();
};

type OfUser = { id: number; userId: number };

const loadReview = async (db: Reader, { id, userId }: OfUser) =>
  await db
    .selectFrom('merge_request_reviews')
    .select(['head_sha', 'created_at'])
    .where('merge_request_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();

/** Returns the heads whose diffs a user commented on. */
const loadCommentedHeads = async (db: Reader, { id, userId }: OfUser): Promise<Set<string>> => {
  const notes = await db
    .selectFrom('notes')
    .select('original_position')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', id)
    .where('author_id', '=', userId)
    .where('type', '=', 'DiffNote')
    .orderBy('id', 'desc')
    .limit(maxComments)
    .execute();
  return new Set(notes.flatMap((note) => parsePosition(note.original_position)?.head_sha ?? []));
};

const loadApprovalTime = async (db: Reader, { id, userId }: OfUser): Promise<number | null> => {
  const approval = await db
    .selectFrom('merge_request_approvals')
    .select('created_at')
    .where('merge_request_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return approval?.created_at ?? null;
};

/** Finds the newest version that a user reviewed. A reply or a plain comment is no review. */
const findReviewed = async (
  db: Reader,
  user: OfUser,
  versions: readonly VersionRow[],
): Promise<VersionRow | undefined> => {
  const review = await loadReview(db, user);
  if (review !== undefined) {
    const { head_sha, created_at } = review;
    const submitted = versions.find((version) => version.head_commit_sha === head_sha);
    return submitted ?? versions.find((version) => version.created_at <= created_at);
  }
  const [heads, approvedAt] = await Promise.all([loadCommentedHeads(db, user), loadApprovalTime(db, user)]);
  return versions.find(
    ({ head_commit_sha: head, created_at }) =>
      (head !== null && heads.has(head)) || (approvedAt !== null && created_at <= approvedAt),
  );
};

/**
 * Returns the version that the caller last reviewed: approved, requested changes of, or submitted a review of; for
 * those who did none of these, the newest version whose lines they commented on.
 * @param versions newest first
 * @returns null: they never reviewed it, it is their own, or nothing changed since
 */
export const lastReviewedVersion = async (
  { db, actor }: Call,
  { merge_request }: LoadedMergeRequest,
  versions: readonly VersionRow[],
): Promise<VersionRow | null> => {
  if (actor === null || actor.user.id === merge_request.author_id) return null;
  const user = { id: merge_request.id, userId: actor.user.id };
  const version = await findReviewed(db, user, versions);
  const isLatest = version?.head_commit_sha === versions[0]?.head_commit_sha;
  return version === undefined || isLatest ? null : version;
};
