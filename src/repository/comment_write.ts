/** Comments on commits are written here: those of `.../comments` and those of discussions alike. */
import type { Selectable } from 'kysely';
import type { Actor } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import type { CommitCommentsTable } from '../db/schema_code.ts';
import { notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';

export type CommitComment = Selectable<CommitCommentsTable>;

/** What a caller says of a comment that is to be made. */
export type NewComment = Omit<CommitComment, 'id' | 'author_id' | 'created_at' | 'updated_at'>;

const tell = async (tx: Tx, actor: Actor, verb: string, { id, project_id, sha }: CommitComment) =>
  await recordEvent(tx, actor, {
    kind: `commit_comment.${verb}`,
    project_id,
    target_type: 'CommitComment',
    target_id: id,
    data: { sha },
  });

/** The project must be held. */
export const insertComment = async (tx: Tx, actor: Actor, comment: NewComment): Promise<CommitComment> => {
  const row = { ...comment, author_id: actor.user.id, created_at: tx.now, updated_at: null };
  const made = { id: await insertRow(tx.db, 'commit_comments', row), ...row };
  await tell(tx, actor, 'created', made);
  return made;
};

/** @throws Failure 404 where it is deleted meanwhile */
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
  await tell(tx, actor, 'updated', edited);
  return edited;
};

/** @throws Failure 404 where somebody else was faster */
export const deleteComment = async (tx: Tx, actor: Actor, { id }: CommitComment): Promise<void> => {
  const deleted = await tx.db
    .deleteFrom('commit_comments')
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (deleted === undefined) throw notFound();
  await tell(tx, actor, 'deleted', deleted);
};
