import { type Call, endpoint } from '../access/call.ts';
import { badRequest, notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
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
} from '../http/schema.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Commit, FileDiff, Oid } from '../git/protocol_types.ts';
import { archiveAnswer } from './archive.ts';
import { type Code, findCode, projectParam, webUrlOf } from './code.ts';
import { commitJson, commitShape } from './commit_json.ts';
import { diffJson, diffLimits, diffShape } from './diff_json.ts';
import { networkOf } from './fork_relation.ts';
import { mostCompared } from './limits.ts';
import { pathParam } from './paths.ts';
import { refusal, requireCommit, requireRef, requireRevision, resolveRevision } from './resolve.ts';

const area = 'repositories';
const repository = '/projects/:id/repository';
const refParam = text({ maxLength: 1000, description: 'branch, tag or commit' });

/** From where the differences are told: from what both have, or from the one itself. */
const baseOf = async (
  { repository }: Code,
  [from, to]: [Oid, Oid],
  straight: boolean,
): Promise<Oid | null> => {
  if (straight) return from;
  return (await repository.ask('commits.merge_base', { ids: [from, to] })).id;
};

type Compared = { commits: Commit[]; diffs: FileDiff[]; overflow: boolean };

/** Without files, as one that exceeded the limits, where too much differs for git to compare. */
const diffOf = async ({ repository }: Code, from: Oid, to: Oid): Promise<Omit<Compared, 'commits'>> => {
  try {
    return await repository.ask('diff.files', { from, to, limits: diffLimits });
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return { diffs: [], overflow: true };
    throw error;
  }
};

const compareHere = async (code: Code, ends: [Oid, Oid], straight: boolean): Promise<Compared> => {
  const [from, to] = ends;
  const base = await baseOf(code, ends, straight);
  const [{ commits }, { diffs, overflow }] = await Promise.all([
    code.repository.ask('commits.list', { from: [to], not: [from], skip: 0, limit: mostCompared }),
    base === null ? { diffs: [], overflow: false } : diffOf(code, base, to),
  ]);
  return { commits, diffs, overflow };
};

/** With a commit of another project, of which this one gets nothing. */
const compareAcross = async (
  code: Code,
  other: Code,
  [from, to]: [Oid, Oid],
  straight: boolean,
): Promise<Compared> => {
  if (other.repository.storage !== code.repository.storage) {
    throw badRequest('the projects are kept on different storages');
  }
  const source = other.repository.path;
  const asked = { source, from, to, straight, limits: diffLimits, limit: mostCompared };
  return await code.repository.ask('compare.across', asked);
};

/** The project that `from` is of: this one, or one that shares its beginnings. */
const otherOf = async (call: Call, code: Code, id: number | string | undefined): Promise<Code> => {
  if (id === undefined) return code;
  const other = await findCode(call, id);
  if (other.project.id === code.project.id) return code;
  if (networkOf(other.project) === networkOf(code.project)) return other;
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
  const projectUrl = webUrlOf(call, code.project);
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
  summary: 'What one commit has that another has not',
  area,
  audience: 'optional',
  params: object({
    id: projectParam,
    from: refParam,
    to: refParam,
    straight: boolean({ default: false, description: 'from `from` itself, not from what both have' }),
    from_project_id: optional(idOrPath('the project of `from`, where that is another one of the same forks')),
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
    const origin = await otherOf(call, code, other);
    const start = await requireRevision(origin, from, 'Ref');
    const end = await requireRevision(code, to, 'Ref');
    const ends: [Oid, Oid] = [start.commit, end.commit];
    const compared =
      origin === code
        ? await compareHere(code, ends, straight)
        : await compareAcross(code, origin, ends, straight);
    return compareJson(call, code, ends, compared);
  },
});

const mergeBase = endpoint({
  method: 'GET',
  path: `${repository}/merge_base`,
  summary: 'The newest commit that all of these have',
  area,
  audience: 'optional',
  params: object({ id: projectParam, refs: texts({ description: 'two or more', maxItems: 20 }) }),
  reply: commitShape,
  handle: async (call, { id, refs }) => {
    const code = await findCode(call, id);
    if (refs.length < 2) throw refusal('bad_request', 'Provide at least 2 refs');
    const ids: Oid[] = [];
    for (const ref of refs) {
      // oxlint-disable-next-line no-await-in-loop -- the first that is none is named
      const found = await resolveRevision(code, ref);
      if (found === null) throw refusal('bad_request', `Could not find ref: ${ref}`);
      ids.push(found.commit);
    }
    const { id: base } = await code.repository.ask('commits.merge_base', { ids });
    if (base === null) throw notFound('Merge Base');
    return commitJson(await requireCommit(code, base), webUrlOf(call, code.project));
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
  summary: 'All files of a commit in one',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: optional(text({ description: 'default: `tar.gz`' })) }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...wanted }) => await archiveAnswer(call, await findCode(call, id), wanted),
});

const archiveOf = endpoint({
  method: 'GET',
  path: `${repository}/archive.:format`,
  summary: 'All files of a commit in one: `tar`, `tar.gz`, `tar.bz2` or `zip`',
  area,
  audience: 'optional',
  params: object({ ...archiveParams, format: text() }),
  reply: null,
  content: '*/*',
  handle: async (call, { id, ...wanted }) => await archiveAnswer(call, await findCode(call, id), wanted),
});

const contributors = endpoint({
  method: 'GET',
  path: `${repository}/contributors`,
  summary: 'Who made how many commits',
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
    const found = await code.repository.ask('contributors.list', { commit });
    const way = sort === 'asc' ? 1 : -1;
    const all = found.contributors.toSorted((a, b) => {
      const [one, other] = [a[order_by], b[order_by]];
      const order = one < other ? -1 : Number(one > other);
      return way * order || (a.email < b.email ? -1 : Number(a.email > b.email));
    });
    const { limit, offset } = pageRequest(params);
    return { items: all.slice(offset, offset + limit), total: all.length };
  },
});

export const compareRoutes = [archive, archiveOf, compare, mergeBase, contributors];
