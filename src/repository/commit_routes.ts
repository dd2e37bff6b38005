import { type Call, endpoint } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { Answer } from '../http/endpoint.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import {
  boolean,
  idOrPath,
  int,
  longText,
  object,
  oneOf,
  optional,
  raw,
  string,
  text,
  time,
} from '../http/schema.ts';
import type { Oid } from '../git/protocol_types.ts';
import { readActions } from './actions.ts';
import { findForPush } from './branch_create.ts';
import { type Code, findCode, projectParam } from './code.ts';
import { commitFiles } from './commit_files.ts';
import { commitShape, listedCommitShape, singleCommitShape } from './commit_json.ts';
import { listCommits, singleCommitJson } from './commit_read.ts';
import { diffJson, diffLimits, diffShape } from './diff_json.ts';
import { largestCommit } from './limits.ts';
import { pathParam } from './paths.ts';
import { type Picking, pickCommit } from './pick.ts';
import { requireCommit, requireRevision } from './resolve.ts';

const area = 'commits';
const commits = '/projects/:id/repository/commits';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });
const one = { id: projectParam, sha: shaParam };

const list = endpoint({
  method: 'GET',
  path: commits,
  summary: 'Commits of a branch, a tag or all, newest first',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    ref_name: optional(text({ maxLength: 1000, description: 'default: the default branch' })),
    since: optional(time()),
    until: optional(time()),
    path: optional(pathParam('only commits that change it')),
    author: optional(text({ description: 'part of the name or address' })),
    all: optional(boolean({ description: 'of every branch and tag' })),
    with_stats: optional(boolean()),
    first_parent: optional(boolean()),
    order: oneOf(['default', 'topo'], { default: 'default' }),
    ...pageParams,
  }),
  reply: listedCommitShape,
  list: true,
  handle: async (call, { id, ...params }) =>
    await listCommits(call, await findCode(call, id), params, pageRequest(params)),
});

/** What was made just now. */
const answerNew = async (call: Call, code: Code, id: Oid, stats = true) =>
  await singleCommitJson(call, code, await requireCommit(code, id), stats);

const create = endpoint({
  method: 'POST',
  path: commits,
  summary: 'Commit changes of several files',
  area,
  audience: 'user',
  largest: largestCommit,
  params: object({
    id: projectParam,
    branch: text(),
    commit_message: longText(),
    actions: raw('each with `action`, `file_path` and what that action needs'),
    start_branch: optional(text({ description: 'where the branch begins, if it does not exist' })),
    start_sha: optional(text({ maxLength: 64 })),
    start_project: optional(idOrPath('the project of `start_branch` or `start_sha`')),
    author_name: optional(text()),
    author_email: optional(text()),
    stats: boolean({ default: true }),
    force: boolean({ default: false, description: 'the branch begins anew, even if it exists' }),
  }),
  reply: singleCommitShape,
  handle: async (call, { id, actions, commit_message: message, stats, ...params }) => {
    const code = await findForPush(call, id);
    const wanted = { ...params, message, actions: readActions(actions) };
    return await answerNew(call, code, await commitFiles(call, code, wanted), stats);
  },
});

const show = endpoint({
  method: 'GET',
  path: `${commits}/:sha`,
  summary: 'One commit',
  area,
  audience: 'optional',
  params: object({ ...one, stats: boolean({ default: true }) }),
  reply: singleCommitShape,
  handle: async (call, { id, sha, stats }) => {
    const code = await findCode(call, id);
    return await singleCommitJson(call, code, await requireCommit(code, sha), stats);
  },
});

const diff = endpoint({
  method: 'GET',
  path: `${commits}/:sha/diff`,
  summary: 'What a commit changed, file by file',
  area,
  audience: 'optional',
  params: object({ ...one, ...pageParams }),
  reply: diffShape,
  list: true,
  handle: async (call, { id, sha, ...params }) => {
    const code = await findCode(call, id);
    const commit = await requireCommit(code, sha);
    const { limit, offset } = pageRequest(params);
    const { diffs } = await code.repository.ask('diff.files', {
      from: commit.parents[0] ?? null,
      to: commit.id,
      limits: diffLimits,
    });
    return { items: diffs.slice(offset, offset + limit).map(diffJson), total: diffs.length };
  },
});

const refs = endpoint({
  method: 'GET',
  path: `${commits}/:sha/refs`,
  summary: 'Branches and tags whose history has a commit',
  area,
  audience: 'optional',
  params: object({ ...one, type: oneOf(['branch', 'tag', 'all'], { default: 'all' }), ...pageParams }),
  reply: object({ type: string, name: string }),
  list: true,
  handle: async (call, { id, sha, type, ...params }) => {
    const code = await findCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const { limit, offset } = pageRequest(params);
    const found = await code.repository.ask('commits.refs', { id: commit, type });
    return { items: found.refs.slice(offset, offset + limit), total: found.refs.length };
  },
});

const sequence = endpoint({
  method: 'GET',
  path: `${commits}/:sha/sequence`,
  summary: 'How many commits a commit has before it, itself counted',
  area,
  audience: 'optional',
  params: object({ ...one, first_parent: boolean({ default: false }) }),
  reply: object({ count: int }),
  handle: async (call, { id, sha, first_parent }) => {
    const code = await findCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const walk = { from: [commit], skip: 0, limit: 0, count: true, first_parent };
    const { total } = await code.repository.ask('commits.list', walk);
    return { count: total ?? 0 };
  },
});

const signature = endpoint({
  method: 'GET',
  path: `${commits}/:sha/signature`,
  summary: 'Signature of a commit: none is known',
  area,
  audience: 'optional',
  params: object(one),
  reply: object({}),
  handle: async (call, { id, sha }) => {
    const code = await findCode(call, id);
    await requireRevision(code, sha);
    throw notFound('Signature');
  },
});

const picking = (what: Picking, summary: string) =>
  endpoint({
    method: 'POST',
    path: `${commits}/:sha/${what}`,
    summary,
    area,
    audience: 'user',
    params: object({
      ...one,
      branch: text(),
      message: optional(longText('in place of the usual one')),
      dry_run: boolean({ default: false, description: 'only whether it could be done' }),
    }),
    reply: commitShape,
    handle: async (call, { id, sha, ...wanted }) => {
      const code = await findForPush(call, id);
      const commit = await requireCommit(code, sha);
      const made = await pickCommit(call, code, [what, commit], wanted);
      if (wanted.dry_run) return new Answer({ dry_run: 'success' }, { status: 201 });
      return await answerNew(call, code, made, false);
    },
  });

export const commitRoutes = [
  list,
  create,
  show,
  diff,
  refs,
  sequence,
  signature,
  picking('cherry_pick', 'Do on a branch what a commit did'),
  picking('revert', 'Undo on a branch what a commit did'),
];
