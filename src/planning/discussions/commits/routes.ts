/** Endpoints of discussions on commits. They show the same comments as `.../comments`. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden, notFound } from '../../../platform/errors.ts';
import type { Commit } from '../../../platform/git/protocol_types.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  array,
  bool,
  id as idParam,
  longText,
  object,
  optional,
  string,
  text,
} from '../../../platform/http/schema.ts';
import { checkBody } from '../../notes/rules.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { type Code, findCode, projectParam } from '../../../code/repository/find_code.ts';
import {
  type CommitComment,
  deleteComment,
  editComment,
  insertComment,
} from '../../../code/repository/commits/comments.ts';
import { requireCommit } from '../../../code/repository/refs/resolve.ts';
import {
  type CommitDiscussion,
  type CommitKey,
  commentsJson,
  commitDiscussionsJson,
  commitNoteShape,
  findCommitDiscussion,
  listCommitDiscussions,
  replyInThread,
} from './comments.ts';
import { locateInCommit } from '../find_line.ts';
import { positionParam, readPosition } from '../position_param.ts';

const path = '/projects/:id/repository/commits/:sha/discussions';
const onePath = `${path}/:discussion_id`;
const notePath = `${onePath}/notes/:note_id`;
const commitParams = {
  id: projectParam,
  sha: text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' }),
};
const discussionParams = { ...commitParams, discussion_id: text({ description: 'id of the discussion' }) };
const note = { ...discussionParams, note_id: idParam('id of the comment') };
const area = 'discussions';
const shape = object({ id: string, individual_note: bool, notes: array(commitNoteShape) });

type Site = { code: Code; commit: Commit; of: CommitKey };

const loadSite = async (
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
  summary: 'List discussions on a commit, oldest first',
  area,
  audience: 'optional',
  list: true,
  params: object({ ...commitParams, ...pageParams }),
  reply: shape,
  handle: async (call, params) => {
    const { of: commit } = await loadSite(call, params);
    const { items, total } = await listCommitDiscussions(call.db, commit, pageRequest(params));
    return { items: await commitDiscussionsJson(call, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: onePath,
  summary: 'Get a discussion on a commit',
  area,
  audience: 'optional',
  params: object(discussionParams),
  reply: shape,
  handle: async (call, params) => {
    const { of: commit } = await loadSite(call, params);
    return await render(call, await findCommitDiscussion(call.db, commit, params.discussion_id));
  },
});

const resolvePlace = async (
  { code, commit }: Site,
  input: unknown,
): Promise<Pick<CommitComment, 'position' | 'path' | 'line' | 'line_type'>> => {
  const requested = readPosition(input);
  if (requested === null) return { position: null, path: null, line: null, line_type: null };
  const parent = commit.parents[0] ?? null;
  const position = await locateInCommit(code.repository, { id: commit.id, parent }, requested);
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
  summary: 'Start a discussion on a commit or on a changed line',
  area,
  audience: 'user',
  params: object({ ...commitParams, body: longText(), position: optional(positionParam) }),
  reply: shape,
  handle: async (call, { body, position, ...params }) => {
    const site = await loadSite(call, params, 'comment_on_commit');
    const place = await resolvePlace(site, position);
    const id = call.platform.random(20).toString('hex');
    const comment = { ...site.of, ...place, note: checkBody(body), discussion_id: id };
    const created = await call.write(async (tx) => {
      await holdProject(tx, site.of.project_id);
      return await insertComment(tx, requireActor(call), comment);
    });
    return await render(call, { id, comments: [created] });
  },
});

const reply = endpoint({
  method: 'POST',
  path: `${onePath}/notes`,
  summary: 'Reply to a discussion on a commit',
  area,
  audience: 'user',
  params: object({ ...discussionParams, body: longText() }),
  reply: commitNoteShape,
  handle: async (call, { body, discussion_id, ...params }) => {
    const { of: commit } = await loadSite(call, params, 'comment_on_commit');
    const answer = { note: body, discussion_id };
    const created = await call.write(
      async (tx) => await replyInThread(tx, requireActor(call), commit, answer),
    );
    return (await commentsJson(call, [created]))[0];
  },
});

const findIn = async (
  call: Call,
  { of: commit }: Site,
  { discussion_id, note_id }: { discussion_id: string; note_id: number },
): Promise<CommitComment> => {
  const { comments } = await findCommitDiscussion(call.db, commit, discussion_id);
  const comment = comments.find(({ id }) => id === note_id);
  if (comment === undefined) throw notFound();
  return comment;
};

const getNote = endpoint({
  method: 'GET',
  path: notePath,
  summary: 'Get a comment in a discussion on a commit',
  area,
  audience: 'optional',
  params: object(note),
  reply: commitNoteShape,
  handle: async (call, params) =>
    (await commentsJson(call, [await findIn(call, await loadSite(call, params), params)]))[0],
});

/** Loads a comment that the caller may edit. @throws Failure 404; 403 unless they are its author or a master */
const findOwn = async (
  call: Call,
  site: Site,
  input: { discussion_id: string; note_id: number },
): Promise<CommitComment> => {
  const comment = await findIn(call, site, input);
  if (!may(call.viewer, 'admin_note', site.code.project, comment)) throw forbidden();
  return comment;
};

const update = endpoint({
  method: 'PUT',
  path: notePath,
  summary: 'Update a comment in a discussion on a commit',
  area,
  audience: 'user',
  params: object({ ...note, body: longText() }),
  reply: commitNoteShape,
  handle: async (call, { body, ...params }) => {
    const comment = await findOwn(call, await loadSite(call, params), params);
    const note = checkBody(body);
    const changed = await call.write(async (tx) => await editComment(tx, requireActor(call), comment, note));
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
  handle: async (call, params) => {
    const comment = await findOwn(call, await loadSite(call, params), params);
    await call.write(async (tx) => await deleteComment(tx, requireActor(call), comment));
  },
});

export const commitDiscussionRoutes = [list, get, create, reply, getNote, update, remove];
