/** Compiles and plans CI configurations for tests. The included files come from a record. */
import { type Source, compile } from '../../../src/ci/ci_file/compile.ts';
import type { Conditions } from '../../../src/ci/ci_file/conditions.ts';
import { compilePathPattern } from '../../../src/ci/ci_file/syntax/fnmatch.ts';
import { fullLimits } from '../../../src/ci/ci_file/syntax/limits.ts';
import type { Fetch } from '../../../src/ci/ci_file/include/included_files.ts';
import {
  type Plan,
  type PlannedJob,
  type Planned,
  loadRuleFacts,
  plan,
} from '../../../src/ci/ci_file/plan.ts';
import type { Compiled, Job } from '../../../src/ci/ci_file/config_types.ts';

export const onMain: Conditions = {
  source: 'push',
  ref: 'main',
  ref_type: 'branch',
  project_path: 'group/project',
  predefined: {
    CI_PIPELINE_SOURCE: 'push',
    CI_COMMIT_BRANCH: 'main',
    CI_COMMIT_REF_NAME: 'main',
    CI_DEFAULT_BRANCH: 'main',
    CI_PROJECT_PATH: 'group/project',
  },
  variables: {},
};

export const onBranch = (ref: string, more: Partial<Conditions> = {}): Conditions => ({
  ...onMain,
  ref,
  predefined: { ...onMain.predefined, CI_COMMIT_BRANCH: ref, CI_COMMIT_REF_NAME: ref },
  ...more,
});

export const onTag = (ref: string): Conditions => ({
  ...onMain,
  ref,
  ref_type: 'tag',
  predefined: {
    CI_PIPELINE_SOURCE: 'push',
    CI_COMMIT_TAG: ref,
    CI_COMMIT_REF_NAME: ref,
    CI_DEFAULT_BRANCH: 'main',
  },
});

export const onMergeRequest: Conditions = {
  ...onMain,
  source: 'merge_request_event',
  ref: 'feature',
  ref_type: 'merge_request',
  predefined: {
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_MERGE_REQUEST_IID: '1',
    CI_COMMIT_REF_NAME: 'feature',
    CI_DEFAULT_BRANCH: 'main',
  },
};

/** Keys: `lib.yml` for this project, `other/project:lib.yml` for another one, with `@ref` appended for a ref. */
export type Files = Record<string, string>;

const makeFetch =
  (files: Files): Fetch =>
  async (target) => {
    const named = (names: string[]) => names.map((name) => ({ name, text: files[name] ?? '', origin: null }));
    if (target.type === 'local') {
      const matches = compilePathPattern(target.path);
      const names = Object.keys(files).filter((name) => name === target.path || matches(name));
      return names.length === 0 ? { problem: 'missing' } : { files: named(names) };
    }
    if (target.type !== 'file') return { problem: target.type === 'template' ? 'missing' : 'refused' };
    const ref = target.ref === null ? '' : `@${target.ref}`;
    if (!Object.keys(files).some((name) => name.startsWith(`${target.project}:`)))
      return { problem: 'project' };
    const text = files[`${target.project}:${target.path}${ref}`];
    if (text !== undefined) return { files: [{ name: target.path, text, origin: null }] };
    return { problem: ref === '' || ref === '@main' ? 'missing' : 'reference' };
  };

export const compiled = async (
  content: string,
  { files = {}, ...more }: Partial<Source> & { files?: Files } = {},
): Promise<Compiled> =>
  await compile({
    content,
    path: '.gitlab-ci.yml',
    origin: null,
    fetch: makeFetch(files),
    conditions: onMain,
    limits: fullLimits,
    ...more,
  });

export const compileErrors = async (content: string, files: Files = {}): Promise<string[]> =>
  (await compiled(content, { files })).errors.map(({ text }) => text);

export const compileWarnings = async (content: string, files: Files = {}): Promise<string[]> =>
  (await compiled(content, { files })).warnings.map(({ text }) => text);

/** Compiles a valid file and returns its jobs. */
export const compileJobs = async (content: string, files: Files = {}): Promise<Job[]> => {
  const { config, errors } = await compiled(content, { files });
  if (config === null) throw new Error(errors.map(({ text }) => text).join('\n'));
  return config.jobs;
};

export const compileJob = async (content: string, name = 'job', files: Files = {}): Promise<Job> => {
  const found = (await compileJobs(content, files)).find((job) => job.name === name);
  if (found === undefined) throw new Error(`no job ${name}`);
  return found;
};

export const planFile = async (
  content: string,
  conditions: Conditions = onMain,
  files: Files = {},
): Promise<Planned> => {
  const { config, errors } = await compiled(content, { conditions, files });
  if (config === null) throw new Error(errors.map(({ text }) => text).join('\n'));
  return plan(config, conditions, await loadRuleFacts(config, conditions), fullLimits);
};

export const planPipeline = async (
  content: string,
  conditions = onMain,
  files: Files = {},
): Promise<Plan> => {
  const planned = await planFile(content, conditions, files);
  if ('unplanned' in planned) throw new Error(planned.unplanned.text);
  return planned.plan;
};

/** Names of the jobs in the pipeline; empty if no pipeline is created. */
export const namesIn = async (content: string, conditions: Conditions = onMain): Promise<string[]> => {
  const planned = await planFile(content, conditions);
  return 'plan' in planned ? planned.plan.jobs.map(({ name }) => name) : [];
};

export const plannedJob = async (
  content: string,
  conditions: Conditions = onMain,
  name = 'job',
): Promise<PlannedJob> => {
  const found = (await planPipeline(content, conditions)).jobs.find((job) => job.name === name);
  if (found === undefined) throw new Error(`no job ${name}`);
  return found;
};

export const variableValues = (job: Pick<Job, 'variables'>): Record<string, string> =>
  Object.fromEntries(job.variables.map(({ key, value }) => [key, value]));
