/** Discussions on commits. Their comments are those of `.../comments`, too. */
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, notFound } from '../errors.ts';
import type { Commit } from '../git/protocol_types.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { array, bool, id as idParam, longText, object, optional, string, text } from '../http/schema.ts';
import { checkBody } from '../notes/rules.ts';
import { holdProject } from '../projects/hold.ts';
import { type Code, findCode, projectParam } from '../repository/code.ts';
import {
  type CommitComment,
  deleteComment,
  editComment,
  insertComment,
} from '../repository/comment_write.ts';
import { requireCommit } from '../repository/resolve.ts';
import {
  type CommitDiscussion,
  type OfCommit,
  commentsJson,
  commitDiscussionsJson,
  commitNoteShape,
  findCommitDiscussion,
  listCommitDiscussions,
  replyInThread,
} from './commit_comments.ts';
import { placeInCommit } from './place.ts';
import { positionParam, readPosition } from './position.ts';

const path = '/projects/:id/repository/commits/:sha/discussions';
const onePath = `${path}/:discussion_id`;
const notePath = `${onePath}/notes/:note_id`;
const commitParams = {
  id: projectParam,
  sha: text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' }),
};
const one = { ...commitParams, discussion_id: text({ description: 'id of the discussion' }) };
const note = { ...one, note_id: idParam('id of the comment') };
const area = 'discussions';
const shape = object({ id: string, individual_note: bool, notes: array(commitNoteShape) });

type Site = { code: Code; commit: Commit; of: OfCommit };

const siteOf = async (
  call: Call,
  { id, sha }: { id: number | string; sha: string },
  action?: 'comment_on_commit',
): Promise<Site> => {
  const code = await findCode(call, id, action);
  const commit = await requireCommit(code, sha);
  return { code, commit, of: { project_id: code.project.id, sha: commit.id } };
};

const render = async (call: Call, discussion: CommitDiscussion) =>
  (await commitDiscussionsJson(call, [discussion]))[0];

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Discussions on a commit, the oldest first',
  area,
  audience: 'optional',
  list: true,
  params: object({ ...commitParams, ...pageParams }),
  reply: shape,
  handle: async (call, given) => {
    const { of } = await siteOf(call, given);
    const { items, total } = await listCommitDiscussions(call.db, of, pageRequest(given));
    return { items: await commitDiscussionsJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: onePath,
  summary: 'One discussion on a commit',
  area,
  audience: 'optional',
  params: object(one),
  reply: shape,
  handle: async (call, given) => {
    const { of } = await siteOf(call, given);
    return await render(call, await findCommitDiscussion(call.db, of, given.discussion_id));
  },
});

const placeOf = async (
  { code, commit }: Site,
  given: unknown,
): Promise<Pick<CommitComment, 'position' | 'path' | 'line' | 'line_type'>> => {
  const asked = readPosition(given);
  if (asked === null) return { position: null, path: null, line: null, line_type: null };
  const parent = commit.parents[0] ?? null;
  const position = await placeInCommit(code.repository, { id: commit.id, parent }, asked);
  const stored = JSON.stringify(position);
  const { old_path, new_path } = position;
  if (position.position_type !== 'text') {
    return { position: stored, path: new_path, line: null, line_type: null };
  }
  const { old_line, new_line } = position;
  return new_line === null
    ? { position: stored, path: old_path, line: old_line, line_type: 'old' }
    : { position: stored, path: new_path, line: new_line, line_type: 'new' };
};

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Begin a discussion on a commit, or on a line that it changed',
  area,
  audience: 'user',
  params: object({ ...commitParams, body: longText(), position: optional(positionParam) }),
  reply: shape,
  handle: async (call, { body, position, ...given }) => {
    const site = await siteOf(call, given, 'comment_on_commit');
    const place = await placeOf(site, position);
    const id = call.platform.random(20).toString('hex');
    const comment = { ...site.of, ...place, note: checkBody(body), discussion_id: id };
    const made = await call.write(async (tx) => {
      await holdProject(tx, site.of.project_id);
      return await insertComment(tx, actorOf(call), comment);
    });
    return await render(call, { id, comments: [made] });
  },
});

const reply = endpoint({
  method: 'POST',
  path: `${onePath}/notes`,
  summary: 'Reply in a discussion on a commit',
  area,
  audience: 'user',
  params: object({ ...one, body: longText() }),
  reply: commitNoteShape,
  handle: async (call, { body, discussion_id, ...given }) => {
    const { of } = await siteOf(call, given, 'comment_on_commit');
    const answer = { note: body, discussion_id };
    const made = await call.write(async (tx) => await replyInThread(tx, actorOf(call), of, answer));
    return (await commentsJson(call, [made]))[0];
  },
});

const findIn = async (
  call: Call,
  { of }: Site,
  { discussion_id, note_id }: { discussion_id: string; note_id: number },
): Promise<CommitComment> => {
  const { comments } = await findCommitDiscussion(call.db, of, discussion_id);
  const found = comments.find(({ id }) => id === note_id);
  if (found === undefined) throw notFound();
  return found;
};

const getNote = endpoint({
  method: 'GET',
  path: notePath,
  summary: 'One comment in a discussion on a commit',
  area,
  audience: 'optional',
  params: object(note),
  reply: commitNoteShape,
  handle: async (call, given) =>
    (await commentsJson(call, [await findIn(call, await siteOf(call, given), given)]))[0],
});

/** @throws Failure 403 for who is neither its author nor a master, 404 */
const findOwn = async (
  call: Call,
  site: Site,
  given: { discussion_id: string; note_id: number },
): Promise<CommitComment> => {
  const found = await findIn(call, site, given);
  if (!may(call.viewer, 'admin_note', site.code.project, found)) throw forbidden();
  return found;
};

const update = endpoint({
  method: 'PUT',
  path: notePath,
  summary: 'Edit a comment in a discussion on a commit',
  area,
  audience: 'user',
  params: object({ ...note, body: longText() }),
  reply: commitNoteShape,
  handle: async (call, { body, ...given }) => {
    const found = await findOwn(call, await siteOf(call, given), given);
    const note = checkBody(body);
    const changed = await call.write(async (tx) => await editComment(tx, actorOf(call), found, note));
    return (await commentsJson(call, [changed]))[0];
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: notePath,
  summary: 'Delete a comment in a discussion on a commit',
  area,
  audience: 'user',
  params: object(note),
  reply: null,
  handle: async (call, given) => {
    const found = await findOwn(call, await siteOf(call, given), given);
    await call.write(async (tx) => await deleteComment(tx, actorOf(call), found));
  },
});

export const commitDiscussionRoutes = [list, get, create, reply, getNote, update, remove];
