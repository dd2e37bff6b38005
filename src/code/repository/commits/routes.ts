import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/endpoint.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
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
} from '../../../platform/http/schema.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { commitSignatureShape, loadCommitSignature, signatureJson } from '../signatures/commit_signature.ts';
import { readActions } from './file_actions.ts';
import { findCodeForPush } from '../branches/create.ts';
import { type Code, projectParam } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { commitFiles } from './create.ts';
import { commitShape, listedCommitShape, singleCommitShape } from './json.ts';
import { listCommits, singleCommitJson } from './list_commits.ts';
import { diffJson, diffLimits, diffShape } from './diff_json.ts';
import { maxCommitBytes } from '../limits.ts';
import { pathParam } from '../files/paths.ts';
import { type PickKind, pickCommit } from './cherry_pick.ts';
import { requireCommit, requireRevision } from '../refs/resolve.ts';

const area = 'commits';
const commits = '/projects/:id/repository/commits';
const shaParam = text({ maxLength: 1000, description: 'id of the commit, or a branch or tag' });
const commitParams = { id: projectParam, sha: shaParam };

const list = endpoint({
  method: 'GET',
  path: commits,
  cached: true,
  summary: 'List commits, newest first',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    id: projectParam,
    ref_name: optional(text({ maxLength: 1000, description: 'default: the default branch' })),
    since: optional(time()),
    until: optional(time()),
    path: optional(pathParam('only commits that change this path')),
    author: optional(text({ description: 'part of the name or email address' })),
    all: optional(boolean({ description: 'of every branch and tag' })),
    with_stats: optional(boolean()),
    trailers: optional(boolean({ description: 'parse the trailers of the messages' })),
    first_parent: optional(boolean()),
    order: oneOf(['default', 'topo'], { default: 'default' }),
    ...pageParams,
  }),
  reply: listedCommitShape,
  list: true,
  handle: async (call, { id, ...params }) =>
    await listCommits(call, await findCachedCode(call, id), params, pageRequest(params)),
});

/** Replies with a commit that was just created. */
const answerNew = async (call: Call, code: Code, id: Oid, stats = true) =>
  await singleCommitJson(call, code, await requireCommit(code, id), stats);

const create = endpoint({
  method: 'POST',
  path: commits,
  summary: 'Create a commit that changes files',
  area,
  audience: 'user',
  maxRequestBytes: maxCommitBytes,
  params: object({
    id: projectParam,
    branch: text(),
    commit_message: longText(),
    actions: raw('list of actions, each with `action`, `file_path` and the parameters of the action'),
    start_branch: optional(text({ description: 'starting point of a new branch' })),
    start_sha: optional(text({ maxLength: 64 })),
    start_project: optional(idOrPath('the project of `start_branch` or `start_sha`')),
    author_name: optional(text()),
    author_email: optional(text()),
    stats: boolean({ default: true }),
    force: boolean({ default: false, description: 'overwrite the branch if it exists' }),
  }),
  reply: singleCommitShape,
  handle: async (call, { id, actions, commit_message: message, stats, ...params }) => {
    const code = await findCodeForPush(call, id);
    const request = { ...params, message, actions: readActions(actions) };
    return await answerNew(call, code, await commitFiles(call, code, request), stats);
  },
});

const show = endpoint({
  method: 'GET',
  path: `${commits}/:sha`,
  summary: 'Get a commit',
  area,
  audience: 'optional',
  params: object({ ...commitParams, stats: boolean({ default: true }) }),
  reply: singleCommitShape,
  handle: async (call, { id, sha, stats }) => {
    const code = await findCachedCode(call, id);
    return await singleCommitJson(call, code, await requireCommit(code, sha), stats);
  },
});

const diff = endpoint({
  method: 'GET',
  path: `${commits}/:sha/diff`,
  summary: 'Get the diff of a commit',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({ ...commitParams, ...pageParams }),
  reply: diffShape,
  list: true,
  handle: async (call, { id, sha, ...params }) => {
    const code = await findCachedCode(call, id);
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
  summary: 'List branches and tags that contain a commit',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    ...commitParams,
    type: oneOf(['branch', 'tag', 'all'], { default: 'all' }),
    ...pageParams,
  }),
  reply: object({ type: string, name: string }),
  list: true,
  handle: async (call, { id, sha, type, ...params }) => {
    const code = await findCachedCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const { limit, offset } = pageRequest(params);
    const result = await code.repository.ask('commits.refs', { id: commit, type });
    return { items: result.refs.slice(offset, offset + limit), total: result.refs.length };
  },
});

const sequence = endpoint({
  method: 'GET',
  path: `${commits}/:sha/sequence`,
  summary: 'Get the number of commits in the history of a commit',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({ ...commitParams, first_parent: boolean({ default: false }) }),
  reply: object({ count: int }),
  handle: async (call, { id, sha, first_parent }) => {
    const code = await findCachedCode(call, id);
    const { commit } = await requireRevision(code, sha);
    const walk = { from: [commit], skip: 0, limit: 0, count: true, first_parent };
    const { total } = await code.repository.ask('commits.list', walk);
    return { count: total ?? 0 };
  },
});

const signature = endpoint({
  method: 'GET',
  path: `${commits}/:sha/signature`,
  summary: 'Get the signature of a commit',
  area,
  audience: 'optional',
  params: object(commitParams),
  reply: commitSignatureShape,
  handle: async (call, { id, sha }) => {
    const code = await findCachedCode(call, id);
    const signature = await loadCommitSignature(call, code, await requireCommit(code, sha));
    if (signature === null) throw notFound('Signature');
    return signatureJson(signature, call);
  },
});

const picking = (what: PickKind, summary: string) =>
  endpoint({
    method: 'POST',
    path: `${commits}/:sha/${what}`,
    summary,
    area,
    audience: 'user',
    params: object({
      ...commitParams,
      branch: text(),
      message: optional(longText('replaces the default message')),
      dry_run: boolean({ default: false, description: 'check only, without a commit' }),
    }),
    reply: commitShape,
    handle: async (call, { id, sha, ...request }) => {
      const code = await findCodeForPush(call, id);
      const commit = await requireCommit(code, sha);
      const createdId = await pickCommit(call, code, [what, commit], request);
      if (request.dry_run) return new Answer({ dry_run: 'success' }, { status: 201 });
      return await answerNew(call, code, createdId, false);
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
  picking('cherry_pick', 'Cherry-pick a commit to a branch'),
  picking('revert', 'Revert a commit on a branch'),
];
