import type { Call } from '../../../core/access/call.ts';
import { levels } from '../../../core/access/levels.ts';
import type { Commit, Oid, Ref } from '../../../platform/git/protocol_types.ts';
import { bool, nullable, object, string } from '../../../platform/http/schema.ts';
import { type Code, getDefaultRef, getWebUrl } from '../find_code.ts';
import { commitJson, commitShape } from '../commits/json.ts';
import { type ProtectedBranch, mayPushTo, loadProtectedBranches } from '../protection/rules.ts';
import { branchPrefix, loadCommits, loadRefs } from '../refs/resolve.ts';
import { matchesWildcard } from '../../../platform/wildcard.ts';

export const branchShape = object({
  name: string,
  commit: nullable(commitShape),
  merged: bool,
  protected: bool,
  developers_can_push: bool,
  developers_can_merge: bool,
  can_push: bool,
  default: bool,
  web_url: string,
});

/** Returns the commits that are ancestors of `into`. */
const findMerged = async ({ repository }: Code, into: Oid | null, ids: readonly Oid[]): Promise<Set<Oid>> => {
  const distinctIds = [...new Set(ids)];
  if (into === null || distinctIds.length === 0) return new Set();
  const { merged } = await repository.ask('commits.merged', { into, ids: distinctIds });
  return new Set(distinctIds.filter((_id, at) => merged[at]));
};

type BranchContext = {
  commits: Map<Oid, Commit>;
  merged: Set<Oid>;
  rules: readonly ProtectedBranch[];
};

const isDeveloper = (level: number): boolean => level > 0 && level <= levels.developer;

const oneJson = (call: Call, { project }: Code, { name: full, commit: id }: Ref, context: BranchContext) => {
  const { commits, merged, rules } = context;
  const name = full.slice(branchPrefix.length);
  const matchingRules = rules.filter((rule) => matchesWildcard(rule.name, name));
  const commit = id === null ? undefined : commits.get(id);
  const isDefault = name === project.default_branch;
  const projectUrl = getWebUrl(call, project);
  return {
    name,
    commit: commit === undefined ? null : commitJson(commit, projectUrl),
    merged: !isDefault && id !== null && merged.has(id),
    protected: matchingRules.length > 0,
    developers_can_push: matchingRules.some((rule) => isDeveloper(rule.push_access_level)),
    developers_can_merge: matchingRules.some((rule) => isDeveloper(rule.merge_access_level)),
    can_push: mayPushTo(call.viewer, project, rules, name),
    default: isDefault,
    web_url: `${projectUrl}/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
  };
};

/** Converts branches with their commits. Uses a constant number of queries. */
export const branchesJson = async (call: Call, code: Code, refs: readonly Ref[]) => {
  const { project, repository } = code;
  const defaultRef = getDefaultRef(project);
  const ids = refs.flatMap(({ commit }) => (commit === null ? [] : [commit]));
  const [rules, commits, defaults] = await Promise.all([
    loadProtectedBranches(call.db, project.id),
    loadCommits(repository, ids),
    loadRefs(repository, defaultRef === null ? [] : [defaultRef]),
  ]);
  const merged = await findMerged(code, defaults[0]?.commit ?? null, ids);
  return refs.map((ref) => oneJson(call, code, ref, { commits, merged, rules }));
};
