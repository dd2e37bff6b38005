import type { Call } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import type { Commit, Oid, Ref } from '../git/protocol_types.ts';
import { bool, nullable, object, string } from '../http/schema.ts';
import { type Code, defaultRefOf, webUrlOf } from './code.ts';
import { commitJson, commitShape } from './commit_json.ts';
import { type ProtectedBranch, mayPushTo, protectedBranches } from './protected.ts';
import { branchPrefix, commitsById, refsNamed } from './resolve.ts';
import { matchesWildcard } from '../wildcard.ts';

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

/** Which of these commits the default branch has, the branch itself aside. */
const mergedInto = async ({ repository }: Code, into: Oid | null, ids: readonly Oid[]): Promise<Set<Oid>> => {
  const wanted = [...new Set(ids)];
  if (into === null || wanted.length === 0) return new Set();
  const { merged } = await repository.ask('commits.merged', { into, ids: wanted });
  return new Set(wanted.filter((_id, at) => merged[at]));
};

type Known = {
  commits: Map<Oid, Commit>;
  merged: Set<Oid>;
  rules: ProtectedBranch[];
};

const isDeveloper = (level: number): boolean => level > 0 && level <= levels.developer;

const oneJson = (call: Call, { project }: Code, { name: full, commit: id }: Ref, known: Known) => {
  const { commits, merged, rules } = known;
  const name = full.slice(branchPrefix.length);
  const meant = rules.filter((rule) => matchesWildcard(rule.name, name));
  const commit = id === null ? undefined : commits.get(id);
  const isDefault = name === project.default_branch;
  const projectUrl = webUrlOf(call, project);
  return {
    name,
    commit: commit === undefined ? null : commitJson(commit, projectUrl),
    merged: !isDefault && id !== null && merged.has(id),
    protected: meant.length > 0,
    developers_can_push: meant.some((rule) => isDeveloper(rule.push_access_level)),
    developers_can_merge: meant.some((rule) => isDeveloper(rule.merge_access_level)),
    can_push: mayPushTo(call.viewer, project, rules, name),
    default: isDefault,
    web_url: `${projectUrl}/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
  };
};

/** The branches with their commits: a few questions for all of them. */
export const branchesJson = async (call: Call, code: Code, refs: readonly Ref[]) => {
  const { project, repository } = code;
  const defaultRef = defaultRefOf(project);
  const ids = refs.flatMap(({ commit }) => (commit === null ? [] : [commit]));
  const [rules, commits, defaults] = await Promise.all([
    protectedBranches(call.db, project.id),
    commitsById(repository, ids),
    refsNamed(repository, defaultRef === null ? [] : [defaultRef]),
  ]);
  const merged = await mergedInto(code, defaults[0]?.commit ?? null, ids);
  return refs.map((ref) => oneJson(call, code, ref, { commits, merged, rules }));
};
