/** Comments on commits. */
import { actorOf, endpoint, userOf } from '../access/call.ts';
import { invalid } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import {
  int,
  integer,
  longText,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  timestamp,
} from '../http/schema.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../users/json.ts';
import type { Commit } from '../git/protocol_types.ts';
import { holdProject } from '../projects/hold.ts';
import { insertComment } from './comment_write.ts';
import { type Code, findCode, projectParam } from './code.ts';
import { diffLimits } from './diff_json.ts';
import { findLine } from './hunks.ts';
import { pathParam } from './paths.ts';
import { requireCommit, requireRevision } from './resolve.ts';

const area = 'commits';
const path = '/projects/:id/repository/commits/:sha/comments';
const one = {
  id: projectParam,
  sha: text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' }),
};

const shape = object({
  note: string,
  path: nullable(string),
  line: nullable(int),
  line_type: nullable(string),
  author: nullable(basicUserShape),
  created_at: timestamp,
});

const list = endpoint({
  method: 'GET',
  path,
  summary: 'Comments on a commit',
  area,
  audience: 'optional',
  params: object({ ...one, ...pageParams }),
  reply: shape,
  list: true,
  handle: async (call, { id, sha, ...params }) => {
    const code = await findCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const { limit, offset } = pageRequest(params);
    const ofCommit = call.db
      .selectFrom('commit_comments')
      .where('project_id', '=', code.project.id)
      .where('sha', '=', commit);
    const { total } = await ofCommit
      .select((of) => of.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const rows = await ofCommit.selectAll().orderBy('id').limit(limit).offset(offset).execute();
    const authors = await basicUsersById(
      call.db,
      rows.map((row) => row.author_id),
    );
    const items = rows.map((row) => {
      const author = authors.get(row.author_id);
      return {
        note: row.note,
        path: row.path,
        line: row.line,
        line_type: row.line_type,
        author: author === undefined ? null : basicUser(author, call),
        created_at: formatTime(row.created_at),
      };
    });
    return { items, total };
  },
});

type LineType = 'new' | 'old';
type Place = { path: string | null; line: number | null; line_type: LineType | null };

const nowhere: Place = { path: null, line: null, line_type: null };

/** A line that the commit's diff does not show is none to comment on: the comment is about the whole then. */
const placeOf = async (
  { repository }: Code,
  commit: Commit,
  { path, line, line_type }: { path?: string | undefined; line?: number | undefined; line_type: LineType },
): Promise<Place> => {
  if (path === undefined || path === '') return nowhere;
  const { diffs } = await repository.ask('diff.files', {
    from: commit.parents[0] ?? null,
    to: commit.id,
    limits: diffLimits,
    paths: [path],
  });
  const file = diffs.find(({ new_path, old_path }) => (line_type === 'old' ? old_path : new_path) === path);
  if (file === undefined || line === undefined) return nowhere;
  const named = line_type === 'old' ? { old_line: line, new_line: null } : { old_line: null, new_line: line };
  if (findLine(file.diff, named) === null) return nowhere;
  return { path, line, line_type };
};

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Comment on a commit, or on a line that it changed',
  area,
  audience: 'user',
  params: object({
    ...one,
    note: longText(),
    path: optional(pathParam('the file of the line')),
    line: optional(integer({ minimum: 0 })),
    line_type: oneOf(['new', 'old'], { default: 'new' }),
  }),
  reply: shape,
  handle: async (call, { id, sha, note, ...given }) => {
    const code = await findCode(call, id, 'comment_on_commit');
    const commit = await requireCommit(code, sha);
    if (note.trim() === '') throw invalid({ note: ["can't be blank"] });
    const place = await placeOf(code, commit, given);
    const project_id = code.project.id;
    const { created_at } = await call.write(async (tx) => {
      await holdProject(tx, project_id);
      const thread = { discussion_id: null, position: null };
      return await insertComment(tx, actorOf(call), {
        project_id,
        sha: commit.id,
        note,
        ...place,
        ...thread,
      });
    });
    const author = basicUser(userOf(call), call);
    return { note, ...place, author, created_at: formatTime(created_at) };
  },
});

export const commentRoutes = [list, create];
