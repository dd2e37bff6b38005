/** Stores comments on commits, from `.../comments` and from discussions. */
import type { Selectable } from 'kysely';
import type { Actor } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { CommitCommentsTable } from '../../../platform/db/schema/code.ts';
import { notFound } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';

export type CommitComment = Selectable<CommitCommentsTable>;

/** The fields of a new comment. */
export type NewComment = Omit<CommitComment, 'id' | 'author_id' | 'created_at' | 'updated_at'>;

const recordCommentEvent = async (
  tx: Tx,
  actor: Actor,
  verb: string,
  { id, project_id, sha }: CommitComment,
) =>
  await recordEvent(tx, actor, {
    kind: `commit_comment.${verb}`,
    project_id,
    target_type: 'CommitComment',
    target_id: id,
    data: { sha },
  });

/** Inserts a comment. The caller must hold the project's lock. */
export const insertComment = async (tx: Tx, actor: Actor, comment: NewComment): Promise<CommitComment> => {
  const row = { ...comment, author_id: actor.user.id, created_at: tx.now, updated_at: null };
  const inserted = { id: await insertRow(tx.db, 'commit_comments', row), ...row };
  await recordCommentEvent(tx, actor, 'created', inserted);
  return inserted;
};

/** @throws Failure 404 if the comment was deleted concurrently */
export const editComment = async (
  tx: Tx,
  actor: Actor,
  { id }: CommitComment,
  note: string,
): Promise<CommitComment> => {
  const edited = await tx.db
    .updateTable('commit_comments')
    .set({ note, updated_at: tx.now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (edited === undefined) throw notFound();
  await recordCommentEvent(tx, actor, 'updated', edited);
  return edited;
};

/** @throws Failure 404 if the comment was deleted concurrently */
export const deleteComment = async (tx: Tx, actor: Actor, { id }: CommitComment): Promise<void> => {
  const deleted = await tx.db
    .deleteFrom('commit_comments')
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (deleted === undefined) throw notFound();
  await recordCommentEvent(tx, actor, 'deleted', deleted);
};
