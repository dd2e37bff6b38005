import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { notFound } from '../../../platform/errors.ts';
import {
  array,
  bool,
  boolean,
  idOrPath,
  nullable,
  object,
  optional,
  string,
  text,
  texts,
} from '../../../platform/http/schema.ts';
import type { Commit, Oid } from '../../../platform/git/protocol_types.ts';
import { type Code, projectParam, getWebUrl } from '../find_code.ts';
import { findCachedCode } from '../read_cache.ts';
import { commitJson, commitShape } from './json.ts';
import { diffJson, diffShape } from './diff_json.ts';
import { type Compared, compareAcrossProjects, compareWithinProject, findSourceProject } from './compare.ts';
import { refusal, requireCommit, requireRevision, resolveRevision } from '../refs/resolve.ts';

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
  cached: true,
  summary: 'Compare branches, tags or commits',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    id: projectParam,
    from: refParam,
    to: refParam,
    straight: boolean({ default: false, description: 'compare with `from` itself, not with the merge base' }),
    from_project_id: optional(
      idOrPath('project of `from`, if it is another project of the same fork network'),
    ),
  }),
  reply: object({
    commit: nullable(commitShape),
    commits: array(commitShape),
    diffs: array(diffShape),
    compare_timeout: bool,
    compare_same_ref: bool,
    web_url: string,
  }),
  handle: async (call, { id, from, to, straight, from_project_id: fromProjectId }) => {
    const code = await findCachedCode(call, id);
    const fromCode = await findSourceProject(call, code, fromProjectId);
    const start = await requireRevision(fromCode, from, 'Ref');
    const end = await requireRevision(code, to, 'Ref');
    const ends: [Oid, Oid] = [start.commit, end.commit];
    const compared =
      fromCode === code
        ? await compareWithinProject(code, ends, straight)
        : await compareAcrossProjects({ code, other: fromCode }, ends, straight);
    return compareJson(call, code, ends, compared);
  },
});

const mergeBase = endpoint({
  method: 'GET',
  path: `${repository}/merge_base`,
  summary: 'Get the common ancestor of refs',
  area,
  audience: 'optional',
  isExpensive: true,
  params: object({
    id: projectParam,
    refs: texts({ description: 'two or more branches, tags or commits', maxItems: 20 }),
  }),
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

export const compareRoutes = [compare, mergeBase];
