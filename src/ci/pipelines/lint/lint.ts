/** Validates a configuration without creating a pipeline. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import type { Conditions } from '../../ci_file/conditions.ts';
import type { PlannedJob } from '../../ci_file/plan.ts';
import type { Included, Variable } from '../../ci_file/config_types.ts';
import type { Problem } from '../../ci_file/syntax/problems.ts';
import type { CompiledPlan } from '../../ci_file/compile_and_plan.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import {
  isProtected,
  loadProtectedBranches,
  loadProtectedTags,
} from '../../../code/repository/protection/rules.ts';
import { loadCommits, resolveRevision } from '../../../code/repository/refs/resolve.ts';
import {
  type Origin,
  getConfigPath,
  createFetch,
  listPaths,
  readableCodeFinder,
} from '../config/ci_files.ts';
import { toPredefinedVariables } from '../predefined_variables/pipeline_predefined.ts';
import { readConfig } from '../config/read_config.ts';

export type Lint = {
  errors: Problem[];
  warnings: Problem[];
  merged_yaml: string | null;
  includes: Included[];
  jobs: PlannedJob[];
  variables: Variable[];
};

/** The ref for which rules are evaluated. */
export type SimulatedRef = { ref: string; ref_type: 'branch' | 'tag' };

export type LintRequest = {
  /** null if the project's file is not text, or too large. */
  content: string | null;
  /** null if the configuration belongs to no project. */
  origin: Origin | null;
  simulatedRef: SimulatedRef;
  /** Also plan the pipeline that a push to the ref would create. */
  dry_run: boolean;
};

const conditionsWithoutProject = ({ ref, ref_type }: SimulatedRef): Conditions => ({
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
  { ref, ref_type }: SimulatedRef,
): Promise<boolean> => {
  const rules =
    ref_type === 'tag' ? loadProtectedTags(db, project_id) : loadProtectedBranches(db, project_id);
  return isProtected(await rules, ref);
};

/** Builds the conditions of a push to the ref, without stored variables, which may be secret. */
const buildConditions = async (call: Call, { origin, simulatedRef }: LintRequest): Promise<Conditions> => {
  if (origin === null) return conditionsWithoutProject(simulatedRef);
  const { project, repository } = origin.code;
  const commit = (await loadCommits(repository, [origin.commit])).get(origin.commit);
  if (commit === undefined) return conditionsWithoutProject(simulatedRef);
  const predefined = toPredefinedVariables({
    project,
    source: 'push',
    ref: { name: simulatedRef.ref, type: simulatedRef.ref_type },
    isProtected: await isProtectedRef(call, project.id, simulatedRef),
    commit,
    before_sha: commit.parents[0] ?? zeroOid,
    user: call.actor?.user ?? null,
  });
  const files = async () => await listPaths(origin);
  return { ...conditionsWithoutProject(simulatedRef), project_path: project.full_path, predefined, files };
};

const toPlannedJobs = ({ planned, all }: CompiledPlan): Pick<Lint, 'jobs'> & { problems: Problem[] } => {
  if (planned === null) return { jobs: all, problems: [] };
  if ('plan' in planned) return { jobs: planned.plan.jobs, problems: [] };
  const { text } = planned.unplanned;
  return { jobs: [], problems: [{ text, old_text: text, position: null }] };
};

const unreadableText = 'The configuration is not a text, or too big!';

const unreadable: Lint = {
  errors: [{ text: unreadableText, old_text: unreadableText, position: null }],
  warnings: [],
  merged_yaml: null,
  includes: [],
  jobs: [],
  variables: [],
};

export const lint = async (call: Call, request: LintRequest): Promise<Lint> => {
  const { content, origin, dry_run } = request;
  if (content === null) return unreadable;
  const conditions = await buildConditions(call, request);
  const path = origin === null ? '.gitlab-ci.yml' : getConfigPath(origin.code.project);
  const { platform, viewer } = call;
  const sources = { origins: platform.config.ci_include_origins };
  const fetch = createFetch(readableCodeFinder(platform, viewer), sources);
  const options = { jobs: dry_run ? 'plan' : 'all', merged: true } as const;
  const owner = `user ${requireUser(call).id}`;
  const result = await readConfig({ content, path, origin, fetch, conditions }, options, owner);
  const { jobs, problems } = toPlannedJobs(result);
  const { errors, warnings, merged_yaml, includes, variables } = result;
  return { errors: [...errors, ...problems], warnings, merged_yaml, includes, jobs, variables };
};

const toSimulatedRef = (ref: string): SimulatedRef =>
  ref.startsWith('refs/tags/')
    ? { ref: ref.slice('refs/tags/'.length), ref_type: 'tag' }
    : { ref: ref.replace(/^refs\/heads\//, ''), ref_type: 'branch' };

/** Resolves a revision (default: the default branch) to a commit and the ref to simulate. null if there is none. */
export const resolveOrigin = async (
  code: Code,
  revision: string | undefined,
): Promise<{ origin: Origin; simulatedRef: SimulatedRef } | null> => {
  const revisionResult = await resolveRevision(
    code,
    revision === undefined || revision === '' ? 'HEAD' : revision,
  );
  if (revisionResult === null) return null;
  const { commit, ref } = revisionResult;
  const simulatedRef = toSimulatedRef(ref ?? code.project.default_branch ?? 'main');
  return { origin: { code, commit }, simulatedRef };
};
