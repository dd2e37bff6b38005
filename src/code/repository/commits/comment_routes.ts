/** Routes of comments on commits. */
import { requireUser } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
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
} from '../../../platform/http/schema.ts';
import { formatTime } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';
import { findCode, projectParam } from '../find_code.ts';
import { createCommitComment } from './create_comment.ts';
import { pathParam } from '../files/paths.ts';
import { requireCommit, requireRevision } from '../refs/resolve.ts';

const area = 'commits';
const path = '/projects/:id/repository/commits/:sha/comments';
const commitParams = {
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
  summary: 'List comments on a commit',
  area,
  audience: 'optional',
  params: object({ ...commitParams, ...pageParams }),
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
      .select((eb) => eb.fn.countAll<number>().as('total'))
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

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Create a comment on a commit or on a changed line',
  area,
  audience: 'user',
  params: object({
    ...commitParams,
    note: longText(),
    path: optional(pathParam('path of the changed file')),
    line: optional(integer({ minimum: 0 })),
    line_type: oneOf(['new', 'old'], { default: 'new' }),
  }),
  reply: shape,
  handle: async (call, { id, sha, note, ...params }) => {
    const code = await findCode(call, id, 'comment_on_commit');
    const commit = await requireCommit(code, sha);
    const stored = await createCommitComment(call, code, commit, { note, ...params });
    const { path, line, line_type, created_at } = stored;
    const author = basicUser(requireUser(call), call);
    return { note, path, line, line_type, author, created_at: formatTime(created_at) };
  },
});

export const commentRoutes = [list, create];
