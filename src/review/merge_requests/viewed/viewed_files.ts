/**
 * Which files of a merge request a user has viewed. A mark names the blob, so a file that changes is unviewed again.
 */
import { hash } from 'node:crypto';
import { type Call, requireUser } from '../../../core/access/call.ts';
import type { FileDiff } from '../../../platform/git/protocol_types.ts';
import type { LoadedMergeRequest } from '../find.ts';

/** Paths can be longer than what an index takes. */
const hashPath = (path: string): string => hash('sha1', path);

type File = Pick<FileDiff, 'new_path' | 'new_id'>;

export type ViewedFiles = {
  /** Returns whether the user has viewed this content of a file. */
  has: (file: File) => boolean;
};

/** Loads the marks of the caller. */
export const loadViewedFiles = async (
  { db, actor }: Call,
  { merge_request }: LoadedMergeRequest,
): Promise<ViewedFiles> => {
  if (actor === null) return { has: () => false };
  const rows = await db
    .selectFrom('merge_request_viewed_files')
    .select(['path_digest', 'blob_id'])
    .where('merge_request_id', '=', merge_request.id)
    .where('user_id', '=', actor.user.id)
    .execute();
  const blobs = new Map(rows.map(({ path_digest, blob_id }) => [path_digest, blob_id]));
  return { has: ({ new_path, new_id }) => blobs.get(hashPath(new_path)) === new_id };
};

/** Marks a file of a merge request as viewed by the caller, or removes the mark. */
export const markViewed = async (
  call: Call,
  { merge_request }: LoadedMergeRequest,
  { new_path, new_id }: File,
  isViewed: boolean,
): Promise<void> => {
  const { id: user_id } = requireUser(call);
  const key = { merge_request_id: merge_request.id, user_id, path_digest: hashPath(new_path) };
  await call.write(async ({ db, now }) => {
    if (!isViewed) {
      await db
        .deleteFrom('merge_request_viewed_files')
        .where('merge_request_id', '=', key.merge_request_id)
        .where('user_id', '=', user_id)
        .where('path_digest', '=', key.path_digest)
        .execute();
      return;
    }
    await db
      .insertInto('merge_request_viewed_files')
      .values({ ...key, blob_id: new_id, created_at: now })
      .onConflict((clash) =>
        clash
          .columns(['merge_request_id', 'user_id', 'path_digest'])
          .doUpdateSet({ blob_id: new_id, created_at: now }),
      )
      .execute();
  });
};
