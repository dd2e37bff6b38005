/** Looks at a configuration without running it. What reads it is loaded when somebody first asks. */
import { type Call, userOf } from '../access/call.ts';
import type { Conditions } from '../ci_file/conditions.ts';
import type { PlannedJob } from '../ci_file/plan.ts';
import type { Included, Variable } from '../ci_file/plan_types.ts';
import type { Problem } from '../ci_file/problem.ts';
import type { ReadAll } from '../ci_file/read_all.ts';
import { zeroOid } from '../git/protocol_types.ts';
import type { Code } from '../repository/code.ts';
import { isProtected, protectedBranches, protectedTags } from '../repository/protected.ts';
import { commitsById, resolveRevision } from '../repository/resolve.ts';
import { type Origin, configPathOf, fetchFrom, pathsOf, readableCode } from './ci_files.ts';
import { predefinedVariables } from './predefined.ts';
import { readConfig } from './read_config.ts';

export type Lint = {
  errors: Problem[];
  warnings: Problem[];
  merged_yaml: string | null;
  includes: Included[];
  jobs: PlannedJob[];
  variables: Variable[];
};

/** The ref for which the rules are tried. */
export type TriedRef = { ref: string; ref_type: 'branch' | 'tag' };

export type Linted = {
  /** null: the project's file is no text, or too big. */
  content: string | null;
  /** null: of no project. */
  origin: Origin | null;
  tried: TriedRef;
  /** Whether what a push to that ref would make counts, too. */
  dry_run: boolean;
};

const nowhere = ({ ref, ref_type }: TriedRef): Conditions => ({
  source: 'push',
  ref,
  ref_type,
  project_path: '',
  predefined: { CI: 'true', CI_PIPELINE_SOURCE: 'push', CI_COMMIT_REF_NAME: ref, CI_COMMIT_BRANCH: ref },
  variables: {},
});

const isProtectedRef = async (
  { db }: Call,
  project_id: number,
  { ref, ref_type }: TriedRef,
): Promise<boolean> => {
  const rules = ref_type === 'tag' ? protectedTags(db, project_id) : protectedBranches(db, project_id);
  return isProtected(await rules, ref);
};

/** As a push to the ref; without the variables that people set, which may be secret. */
const conditionsOf = async (call: Call, { origin, tried }: Linted): Promise<Conditions> => {
  if (origin === null) return nowhere(tried);
  const { project, repository } = origin.code;
  const commit = (await commitsById(repository, [origin.commit])).get(origin.commit);
  if (commit === undefined) return nowhere(tried);
  const predefined = predefinedVariables({
    project,
    source: 'push',
    ref: { name: tried.ref, type: tried.ref_type },
    isProtected: await isProtectedRef(call, project.id, tried),
    commit,
    before_sha: commit.parents[0] ?? zeroOid,
    user: call.actor?.user ?? null,
  });
  const files = async () => await pathsOf(origin);
  return { ...nowhere(tried), project_path: project.full_path, predefined, files };
};

const plannedOf = ({ planned, all }: ReadAll): Pick<Lint, 'jobs'> & { problems: Problem[] } => {
  if (planned === null) return { jobs: all, problems: [] };
  if ('plan' in planned) return { jobs: planned.plan.jobs, problems: [] };
  const { text } = planned.unplanned;
  return { jobs: [], problems: [{ text, old_text: text, place: null }] };
};

const tooBig = 'The configuration is not a text, or too big!';

const unreadable: Lint = {
  errors: [{ text: tooBig, old_text: tooBig, place: null }],
  warnings: [],
  merged_yaml: null,
  includes: [],
  jobs: [],
  variables: [],
};

export const lint = async (call: Call, linted: Linted): Promise<Lint> => {
  const { content, origin, dry_run } = linted;
  if (content === null) return unreadable;
  const conditions = await conditionsOf(call, linted);
  const path = origin === null ? '.gitlab-ci.yml' : configPathOf(origin.code.project);
  const { platform, viewer } = call;
  const sources = { origins: platform.config.ci_include_origins };
  const fetch = fetchFrom(readableCode(platform, viewer), sources);
  const wish = { jobs: dry_run ? 'plan' : 'all', merged: true } as const;
  const owner = `user ${userOf(call).id}`;
  const read = await readConfig({ content, path, origin, fetch, conditions }, wish, owner);
  const { jobs, problems } = plannedOf(read);
  const { errors, warnings, merged_yaml, includes, variables } = read;
  return { errors: [...errors, ...problems], warnings, merged_yaml, includes, jobs, variables };
};

const shortName = (ref: string): TriedRef =>
  ref.startsWith('refs/tags/')
    ? { ref: ref.slice('refs/tags/'.length), ref_type: 'tag' }
    : { ref: ref.replace(/^refs\/heads\//, ''), ref_type: 'branch' };

/** The commit that a text names (without one, the default branch), and the ref that it stands for; null: none. */
export const findOrigin = async (
  code: Code,
  revision: string | undefined,
): Promise<{ origin: Origin; tried: TriedRef } | null> => {
  const found = await resolveRevision(code, revision === undefined || revision === '' ? 'HEAD' : revision);
  if (found === null) return null;
  const { commit, ref } = found;
  const tried = shortName(ref ?? code.project.default_branch ?? 'main');
  return { origin: { code, commit }, tried };
};
