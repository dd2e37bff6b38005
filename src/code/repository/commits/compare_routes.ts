import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { badRequest, notFound } from '../../../platform/errors.ts';
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
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit, FileDiff, Oid } from '../../../platform/git/protocol_types.ts';
import { archiveAnswer } from '../files/archive.ts';
import { type Code, findCode, projectParam, getWebUrl } from '../code.ts';
import { commitJson, commitShape } from './json.ts';
import { diffJson, diffLimits, diffShape } from './diff_json.ts';
import { getForkNetwork } from '../forks/fork_relation.ts';
import { maxComparedCommits } from '../limits.ts';
import { pathParam } from '../files/paths.ts';
import { refusal, requireCommit, requireRef, requireRevision, resolveRevision } from '../refs/resolve.ts';

const area = 'repositories';
const repository = '/projects/:id/repository';
const refParam = text({ maxLength: 1000, description: 'branch, tag or commit' });

/** Returns the commit to diff from: the merge base, or `from` itself if `straight`. */
const findBase = async (
  { repository }: Code,
  [from, to]: [Oid, Oid],
  straight: boolean,
): Promise<Oid | null> => {
  if (straight) return from;
  return (await repository.ask('commits.merge_base', { ids: [from, to] })).id;
};

type Compared = { commits: Commit[]; diffs: FileDiff[]; overflow: boolean };

/** Reads a diff. A diff too large for git is returned without files, as an overflow. */
const readDiff = async ({ repository }: Code, from: Oid, to: Oid): Promise<Omit<Compared, 'commits'>> => {
  try {
    return await repository.ask('diff.files', { from, to, limits: diffLimits });
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return { diffs: [], overflow: true };
    throw error;
  }
};

const compareWithinProject = async (code: Code, ends: [Oid, Oid], straight: boolean): Promise<Compared> => {
  const [from, to] = ends;
  const base = await findBase(code, ends, straight);
  const [{ commits }, { diffs, overflow }] = await Promise.all([
    code.repository.ask('commits.list', { from: [to], not: [from], skip: 0, limit: maxComparedCommits }),
    base === null ? { diffs: [], overflow: false } : readDiff(code, base, to),
  ]);
  return { commits, diffs, overflow };
};

/** Compares with a commit of another project, without copying objects into this one. */
const compareAcrossProjects = async (
  code: Code,
  other: Code,
  [from, to]: [Oid, Oid],
  straight: boolean,
): Promise<Compared> => {
  if (other.repository.storage !== code.repository.storage) {
    throw badRequest('the projects are on different storages');
  }
  const source = other.repository.path;
  const query = { source, from, to, straight, limits: diffLimits, limit: maxComparedCommits };
  return await code.repository.ask('compare.across', query);
};

/** Finds the project of `from`: this one, or another of the same fork network. */
const findSourceProject = async (call: Call, code: Code, id: number | string | undefined): Promise<Code> => {
  if (id === undefined) return code;
  const other = await findCode(call, id);
  if (other.project.id === code.project.id) return code;
  if (getForkNetwork(other.project) === getForkNetwork(code.project)) return other;
  throw refusal(
    'bad_request',
    `Target project id:${other.project.id} is not a fork of project id:${code.project.id}`,
  );
};

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
    const code = await findCode(call, id);
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
    const code = await findCode(call, id);
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
  handle: async (call, { id, ...request }) => await archiveAnswer(call, await findCode(call, id), request),
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
  handle: async (call, { id, ...request }) => await archiveAnswer(call, await findCode(call, id), request),
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
    const code = await findCode(call, id);
    const isEmpty = code.project.default_branch === null && (ref === undefined || ref === '');
    if (isEmpty) return { items: [], total: 0 };
    const { commit } = await requireRef(code, ref, 'Commit');
    const result = await code.repository.ask('contributors.list', { commit });
    const way = sort === 'asc' ? 1 : -1;
    const all = result.contributors.toSorted((a, b) => {
      const [one, other] = [a[order_by], b[order_by]];
      const order = one < other ? -1 : Number(one > other);
      return way * order || (a.email < b.email ? -1 : Number(a.email > b.email));
    });
    const { limit, offset } = pageRequest(params);
    return { items: all.slice(offset, offset + limit), total: all.length };
  },
});

export const compareRoutes = [archive, archiveInFormat, compare, mergeBase, contributors];
