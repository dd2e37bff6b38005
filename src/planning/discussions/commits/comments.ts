/** Queries, replies and JSON of discussions on commits. */
import { sql } from 'kysely';
import type { Actor, Call } from '../../../core/access/call.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { int, nullable, object } from '../../../platform/http/schema.ts';
import { noteShape } from '../../notes/json.ts';
import { parsePosition } from '../../notes/position.ts';
import { checkBody } from '../../notes/rules.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { type CommitComment, insertComment } from '../../../code/repository/commits/comments.ts';
import { formatTime } from '../../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUsersById } from '../../../identity/users/json.ts';
import { toIndividualId, parseIndividualId } from '../discussion_id.ts';
import { requireNoteQuota } from '../resolve_and_reply_rules.ts';

/** Identifies a commit within a project. */
export type CommitKey = { project_id: number; sha: string };

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
  ...(comment.position !== null && { position: parsePosition(comment.position) }),
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
  const notes = await commentsJson(
    call,
    discussions.flatMap(({ comments }) => comments),
  );
  const byId = new Map(notes.map((one) => [one.id, one]));
  return discussions.map(({ id, comments }) => ({
    id,
    individual_note: comments[0].discussion_id === null,
    notes: comments.flatMap((comment) => byId.get(comment.id) ?? []),
  }));
};

const selectComments = (db: Reader, { project_id, sha }: CommitKey) =>
  db.selectFrom('commit_comments').selectAll().where('project_id', '=', project_id).where('sha', '=', sha);

const toDiscussionId = ({ id, discussion_id }: CommitComment): string =>
  discussion_id ?? toIndividualId(id, 'commit comment');

/** Groups comments into discussions, ordered by their first comments. */
const groupByDiscussion = (comments: readonly CommitComment[]): CommitDiscussion[] => {
  const discussions = new Map<string, CommitDiscussion>();
  for (const comment of comments) {
    const id = toDiscussionId(comment);
    const existing = discussions.get(id);
    if (existing === undefined) discussions.set(id, { id, comments: [comment] });
    else existing.comments.push(comment);
  }
  return [...discussions.values()];
};

/** Lists the discussions on a commit, the oldest first. */
export const listCommitDiscussions = async (
  db: Reader,
  commit: CommitKey,
  { limit, offset }: PageRequest,
): Promise<Page<CommitDiscussion>> => {
  const grouped = sql`from commit_comments where project_id = ${commit.project_id} and sha = ${commit.sha}
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
  const comments = await selectComments(db, commit)
    .where((is) => is.or([is('id', 'in', firsts), is('discussion_id', 'in', ['', ...threads])]))
    .orderBy('id')
    .execute();
  return { items: groupByDiscussion(comments), total };
};

/** Loads a discussion of this commit; 404 if it has no such discussion. */
export const findCommitDiscussion = async (
  db: Reader,
  commit: CommitKey,
  id: string,
): Promise<CommitDiscussion> => {
  const alone = parseIndividualId(id, 'commit comment') ?? 0;
  const comments = await selectComments(db, commit)
    .where((is) =>
      is.or([is('discussion_id', '=', id), is.and([is('id', '=', alone), is('discussion_id', 'is', null)])]),
    )
    .orderBy('id')
    .execute();
  const [discussion] = groupByDiscussion(comments);
  if (discussion === undefined) throw notFound('Discussion');
  return discussion;
};

/** @throws Failure 404 if the commit has no such comment */
export const findCommitComment = async (
  db: Reader,
  commit: CommitKey,
  id: number,
): Promise<CommitComment> => {
  const comment = await selectComments(db, commit).where('id', '=', id).executeTakeFirst();
  if (comment === undefined) throw notFound();
  return comment;
};

/** Turns a standalone comment into the first comment of a thread. */
const beginThread = async (tx: Tx, { id, comments: [lead] }: CommitDiscussion): Promise<void> => {
  if (lead.discussion_id !== null) return;
  await tx.db.updateTable('commit_comments').set({ discussion_id: id }).where('id', '=', lead.id).execute();
};

/**
 * Adds a reply to a discussion, at the same line.
 * @throws Failure 404 if the discussion was deleted, 400 if it is full or the text is blank
 */
export const replyInThread = async (
  tx: Tx,
  actor: Actor,
  commit: CommitKey,
  { note, discussion_id }: { note: string; discussion_id: string },
): Promise<CommitComment> => {
  await holdProject(tx, commit.project_id);
  const thread = await findCommitDiscussion(tx.db, commit, discussion_id);
  requireNoteQuota(thread.comments.length);
  await beginThread(tx, thread);
  const [{ position, path, line, line_type }] = thread.comments;
  const place = { position, path, line, line_type };
  const answer = { ...commit, ...place, note: checkBody(note), discussion_id: thread.id };
  return await insertComment(tx, actor, answer);
};
