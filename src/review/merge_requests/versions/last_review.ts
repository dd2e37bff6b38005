import type { Call } from '../../../core/access/call.ts';
import type { LoadedMergeRequest } from '../find.ts';
import type { VersionRow } from './json.ts';

/** Returns when the caller last commented on or approved a merge request; null: never. */
const lastReviewTime = async ({ db }: Call, userId: number, id: number): Promise<number | null> => {
  const [comment, approval] = await Promise.all([
    db
      .selectFrom('notes')
      .select(({ fn }) => fn.max('created_at').as('at'))
      .where('target_type', '=', 'MergeRequest')
      .where('target_id', '=', id)
      .where('author_id', '=', userId)
      .where('system', '=', 0)
      .executeTakeFirst(),
    db
      .selectFrom('merge_request_approvals')
      .select('created_at as at')
      .where('merge_request_id', '=', id)
      .where('user_id', '=', userId)
      .executeTakeFirst(),
  ]);
  const times = [comment?.at ?? null, approval?.at ?? null].filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
};

/**
 * Returns the version that was the latest at the caller's last review.
 * @param versions newest first
 * @returns null: they never reviewed it, it is their own, or nothing changed since
 */
export const lastReviewedVersion = async (
  call: Call,
  { merge_request }: LoadedMergeRequest,
  versions: readonly VersionRow[],
): Promise<VersionRow | null> => {
  const { actor } = call;
  if (actor === null || actor.user.id === merge_request.author_id) return null;
  const time = await lastReviewTime(call, actor.user.id, merge_request.id);
  if (time === null) return null;
  const version = versions.find(({ created_at }) => created_at <= time);
  const isLatest = version?.head_commit_sha === versions[0]?.head_commit_sha;
  return version === undefined || isLatest ? null : version;
};
