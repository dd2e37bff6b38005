import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import {
  array,
  bool,
  boolean,
  idOrPath,
  int,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  texts,
} from '../../../platform/http/schema.ts';
import type { Commit, Oid } from '../../../platform/git/protocol_types.ts';
import { archiveAnswer } from '../files/archive.ts';
import { type Code, projectParam, getWebUrl } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { commitJson, commitShape } from './json.ts';
import { diffJson, diffShape } from './diff_json.ts';
import { type Compared, compareAcrossProjects, compareWithinProject, findSourceProject } from './compare.ts';
import { listContributors } from './contributors.ts';
import { pathParam } from '../files/paths.ts';
import { refusal, requireCommit, requireRef, requireRevision, resolveRevision } from '../refs/resolve.ts';

const area = 'repositories';
const repository = '/projects/:id/repository';
const refParam = text({ maxLength: 1000, description: 'branch, tag or commit' });

const compareJson = (
  call: Call,
  code: Code,
  [from, to]: [Oid, Oid],
  { commits, diffs, overflow }: Compared,
) => {
  const projectUrl = getWebUrl(call, code.project);
  const json = (commit: Commit) => commitJson(commit, projectUrl);
  const [newest] = commits;
  return {
    commit: newest === undefined ? null : json(newest),
    commits: commits.toReversed().map(json),
    diffs: diffs.map(diffJson),
    compare_timeout: overflow,
    compare_same_ref: from === to,
    web_url: `${projectUrl}/compare/${from}...${to}`,
  };
};

const compare = endpoint({
  method: 'GET',
  path: `${repository}/compare`,
  summary: 'Compare two branches, tags or commits',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    from: refParam,
    to: refParam,
    straight: boolean({ default: false, description: 'compare with `from` itself, not with the merge base' }),
    from_project_id: optional(idOrPath('project of `from`, if another of the same fork network')),
  }),
  reply: object({
    commit: nullable(commitShape),
    commits: array(commitShape),
    diffs: array(diffShape),
    compare_timeout: bool,
    compare_same_ref: bool,
    web_url: string,
  }),
  handle: async (call, { id, from, to, straight, from_project_id: other }) => {
    const code = await findCachedCode(call, id);
    const origin = await findSourceProject(call, code, other);
    const start = await requireRevision(origin, from, 'Ref');
    const end = await requireRevision(code, to, 'Ref');
    const ends: [Oid, Oid] = [start.commit, end.commit];
    const compared =
      origin === code
        ? await compareWithinProject(code, ends, straight)
        : await compareAcrossProjects(code, origin, ends, straight);
    return compareJson(call, code, ends, compared);
  },
});

const mergeBase = endpoint({
  method: 'GET',
  path: `${repository}/merge_base`,
  summary: 'Common ancestor of two or more refs',
  area,
  audience: 'optional',
  params: object({ id: projectParam, refs: texts({ description: 'two or more', maxItems: 20 }) }),
  reply: commitShape,
  handle: async (call, { id, refs }) => {
    const code = await findCachedCode(call, id);
    if (refs.length < 2) throw refusal('bad_request', 'Provide at least 2 refs');
    const ids: Oid[] = [];
    for (const ref of refs) {
      const resolved = await resolveRevision(code, ref);
      if (resolved === null) throw refusal('bad_request', `Could not find ref: ${ref}`);
      ids.push(resolved.commit);
    }
    const { id: base } = await code.repository.ask('commits.merge_base', { ids });
    if (base === null) throw notFound('Merge Base');
    return commitJson(await requireCommit(code, base), getWebUrl(call, code.project));
  },
});

const archiveParams = {
  id: projectParam,
  sha: optional(text({ maxLength: 1000, description: 'branch, tag or commit; default: the default branch' })),
  path: optional(pathParam('only this folder or file')),
};

const archive = endpoint({
  method: 'GET',
  path: `${repository}/archive`,
  summary: 'Archive of the files of a commit',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: optional(text({ description: 'default: `tar.gz`' })) }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...request }) =>
    await archiveAnswer(call, await findCachedCode(call, id), request),
});

const archiveInFormat = endpoint({
  method: 'GET',
  path: `${repository}/archive.:format`,
  summary: 'Archive of the files of a commit: `tar`, `tar.gz`, `tar.bz2` or `zip`',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: text() }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...request }) =>
    await archiveAnswer(call, await findCachedCode(call, id), request),
});

const contributors = endpoint({
  method: 'GET',
  path: `${repository}/contributors`,
  summary: 'Contributors and their numbers of commits',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    ref: optional(refParam),
    order_by: oneOf(['name', 'email', 'commits'], { default: 'commits' }),
    sort: oneOf(['asc', 'desc'], { default: 'asc' }),
    ...pageParams,
  }),
  reply: object({ name: string, email: string, commits: int, additions: int, deletions: int }),
  list: true,
  handle: async (call, { id, ref, order_by, sort, ...params }) => {
    const code = await findCachedCode(call, id);
    const isEmpty = code.project.default_branch === null && (ref === undefined || ref === '');
    if (isEmpty) return { items: [], total: 0 };
    const { commit } = await requireRef(code, ref, 'Commit');
    const all = await listContributors(code, commit, { order_by, sort });
    const { limit, offset } = pageRequest(params);
    return { items: all.slice(offset, offset + limit), total: all.length };
  },
});

export const compareRoutes = [archive, archiveInFormat, compare, mergeBase, contributors];
