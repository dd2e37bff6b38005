/** Discussions on commits: their comments, as the store has them. */
import { sql } from 'kysely';
import type { Actor, Call } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { int, nullable, object } from '../http/schema.ts';
import { noteShape } from '../notes/json.ts';
import { positionOf } from '../notes/position.ts';
import { checkBody } from '../notes/rules.ts';
import { holdProject } from '../projects/hold.ts';
import { type CommitComment, insertComment } from '../repository/comment_write.ts';
import { formatTime } from '../time.ts';
import { type BasicUserRow, basicUser, basicUsersById } from '../users/json.ts';
import { individualId, noteOfId } from './id.ts';
import { requireRoom } from './rules.ts';

/** A commit of a project. */
export type OfCommit = { project_id: number; sha: string };

export type CommitDiscussion = { id: string; comments: [CommitComment, ...CommitComment[]] };

export const commitNoteShape = object({
  ...noteShape.properties,
  noteable_id: nullable(int),
  noteable_iid: nullable(int),
});

const commentJson = (comment: CommitComment, author: BasicUserRow, call: Call) => ({
  id: comment.id,
  type: comment.position === null ? (comment.discussion_id === null ? null : 'DiscussionNote') : 'DiffNote',
  body: comment.note,
  attachment: null,
  author: basicUser(author, call),
  created_at: formatTime(comment.created_at),
  updated_at: formatTime(comment.updated_at ?? comment.created_at),
  system: false,
  noteable_id: null,
  noteable_type: 'Commit',
  noteable_iid: null,
  project_id: comment.project_id,
  commit_id: comment.sha,
  ...(comment.position !== null && { position: positionOf(comment.position) }),
  resolvable: false,
  confidential: false,
  internal: false,
});

export const commentsJson = async (call: Call, comments: readonly CommitComment[]) => {
  const authors = await basicUsersById(call.db, [...new Set(comments.map(({ author_id }) => author_id))]);
  return comments.flatMap((comment) => {
    const author = authors.get(comment.author_id);
    return author === undefined ? [] : [commentJson(comment, author, call)];
  });
};

export const commitDiscussionsJson = async (call: Call, discussions: readonly CommitDiscussion[]) => {
  const all = await commentsJson(
    call,
    discussions.flatMap(({ comments }) => comments),
  );
  const byId = new Map(all.map((one) => [one.id, one]));
  return discussions.map(({ id, comments }) => ({
    id,
    individual_note: comments[0].discussion_id === null,
    notes: comments.flatMap((comment) => byId.get(comment.id) ?? []),
  }));
};

const ofCommit = (db: Reader, { project_id, sha }: OfCommit) =>
  db.selectFrom('commit_comments').selectAll().where('project_id', '=', project_id).where('sha', '=', sha);

const idOf = ({ id, discussion_id }: CommitComment): string =>
  discussion_id ?? individualId(id, 'commit comment');

/** In the order of their first ones. */
const joined = (comments: readonly CommitComment[]): CommitDiscussion[] => {
  const discussions = new Map<string, CommitDiscussion>();
  for (const comment of comments) {
    const id = idOf(comment);
    const known = discussions.get(id);
    if (known === undefined) discussions.set(id, { id, comments: [comment] });
    else known.comments.push(comment);
  }
  return [...discussions.values()];
};

/** Discussions on a commit, the oldest first. */
export const listCommitDiscussions = async (
  db: Reader,
  of: OfCommit,
  { limit, offset }: PageRequest,
): Promise<Page<CommitDiscussion>> => {
  const grouped = sql`from commit_comments where project_id = ${of.project_id} and sha = ${of.sha}
    group by discussion_id, case when discussion_id is null then id else 0 end`;
  const [counted, leads] = await Promise.all([
    sql<{ total: number }>`select count(*) as total from (select 1 ${grouped}) as grouped`.execute(db),
    sql<{ first: number; discussion_id: string | null }>`select min(id) as first, discussion_id ${grouped}
      order by min(id) limit ${limit} offset ${offset}`.execute(db),
  ]);
  const total = counted.rows[0]?.total ?? 0;
  const firsts = leads.rows.map(({ first }) => first);
  const threads = leads.rows.flatMap(({ discussion_id }) => discussion_id ?? []);
  if (firsts.length === 0) return { items: [], total };
  const comments = await ofCommit(db, of)
    .where((is) => is.or([is('id', 'in', firsts), is('discussion_id', 'in', ['', ...threads])]))
    .orderBy('id')
    .execute();
  return { items: joined(comments), total };
};

/** A discussion of this very commit; else 404. */
export const findCommitDiscussion = async (
  db: Reader,
  of: OfCommit,
  id: string,
): Promise<CommitDiscussion> => {
  const alone = noteOfId(id, 'commit comment') ?? 0;
  const comments = await ofCommit(db, of)
    .where((is) =>
      is.or([is('discussion_id', '=', id), is.and([is('id', '=', alone), is('discussion_id', 'is', null)])]),
    )
    .orderBy('id')
    .execute();
  const [found] = joined(comments);
  if (found === undefined) throw notFound('Discussion');
  return found;
};

/** A comment of its own becomes the beginning of a thread. */
const beginThread = async (tx: Tx, { id, comments: [lead] }: CommitDiscussion): Promise<void> => {
  if (lead.discussion_id !== null) return;
  await tx.db.updateTable('commit_comments').set({ discussion_id: id }).where('id', '=', lead.id).execute();
};

/**
 * Answers where the discussion stands.
 * @throws Failure 404 for a discussion that is gone, 400 for one that is full and for a blank text
 */
export const replyInThread = async (
  tx: Tx,
  actor: Actor,
  of: OfCommit,
  { note, discussion_id }: { note: string; discussion_id: string },
): Promise<CommitComment> => {
  await holdProject(tx, of.project_id);
  const thread = await findCommitDiscussion(tx.db, of, discussion_id);
  requireRoom(thread.comments.length);
  await beginThread(tx, thread);
  const [{ position, path, line, line_type }] = thread.comments;
  const place = { position, path, line, line_type };
  const answer = { ...of, ...place, note: checkBody(note), discussion_id: thread.id };
  return await insertComment(tx, actor, answer);
};
