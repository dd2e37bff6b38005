/** Compiles and plans configurations for tests, with files out of a record. */
import { type Source, compile } from '../../src/ci_file/compile.ts';
import type { Conditions } from '../../src/ci_file/conditions.ts';
import { pathPattern } from '../../src/ci_file/fnmatch.ts';
import { fullLimits } from '../../src/ci_file/limits.ts';
import type { Fetch } from '../../src/ci_file/include_wanted.ts';
import { type Plan, type PlannedJob, type Planned, askFacts, plan } from '../../src/ci_file/plan.ts';
import type { Compiled, Job } from '../../src/ci_file/plan_types.ts';

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

/** `lib.yml` of this project, `other/project:lib.yml` of another (`@ref` behind it for a ref). */
export type Files = Record<string, string>;

const fetchOf =
  (files: Files): Fetch =>
  async (wanted) => {
    const named = (names: string[]) => names.map((name) => ({ name, text: files[name] ?? '', origin: null }));
    if (wanted.type === 'local') {
      const matches = pathPattern(wanted.path);
      const names = Object.keys(files).filter((name) => name === wanted.path || matches(name));
      return names.length === 0 ? { problem: 'missing' } : { files: named(names) };
    }
    if (wanted.type !== 'file') return { problem: wanted.type === 'template' ? 'missing' : 'refused' };
    const ref = wanted.ref === null ? '' : `@${wanted.ref}`;
    if (!Object.keys(files).some((name) => name.startsWith(`${wanted.project}:`)))
      return { problem: 'project' };
    const text = files[`${wanted.project}:${wanted.path}${ref}`];
    if (text !== undefined) return { files: [{ name: wanted.path, text, origin: null }] };
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
    fetch: fetchOf(files),
    conditions: onMain,
    limits: fullLimits,
    ...more,
  });

export const errorsOf = async (content: string, files: Files = {}): Promise<string[]> =>
  (await compiled(content, { files })).errors.map(({ text }) => text);

export const warningsOf = async (content: string, files: Files = {}): Promise<string[]> =>
  (await compiled(content, { files })).warnings.map(({ text }) => text);

/** The jobs of a file that has to be right. */
export const jobsOf = async (content: string, files: Files = {}): Promise<Job[]> => {
  const { config, errors } = await compiled(content, { files });
  if (config === null) throw new Error(errors.map(({ text }) => text).join('\n'));
  return config.jobs;
};

export const jobOf = async (content: string, name = 'job', files: Files = {}): Promise<Job> => {
  const found = (await jobsOf(content, files)).find((job) => job.name === name);
  if (found === undefined) throw new Error(`no job ${name}`);
  return found;
};

export const plannedOf = async (
  content: string,
  conditions: Conditions = onMain,
  files: Files = {},
): Promise<Planned> => {
  const { config, errors } = await compiled(content, { conditions, files });
  if (config === null) throw new Error(errors.map(({ text }) => text).join('\n'));
  return plan(config, conditions, await askFacts(config, conditions), fullLimits);
};

export const planOf = async (content: string, conditions = onMain, files: Files = {}): Promise<Plan> => {
  const planned = await plannedOf(content, conditions, files);
  if ('unplanned' in planned) throw new Error(planned.unplanned.text);
  return planned.plan;
};

/** Names of the jobs that are in the pipeline; none where there is no pipeline. */
export const namesIn = async (content: string, conditions: Conditions = onMain): Promise<string[]> => {
  const planned = await plannedOf(content, conditions);
  return 'plan' in planned ? planned.plan.jobs.map(({ name }) => name) : [];
};

export const plannedJob = async (
  content: string,
  conditions: Conditions = onMain,
  name = 'job',
): Promise<PlannedJob> => {
  const found = (await planOf(content, conditions)).jobs.find((job) => job.name === name);
  if (found === undefined) throw new Error(`no job ${name}`);
  return found;
};

export const valuesOf = (job: Pick<Job, 'variables'>): Record<string, string> =>
  Object.fromEntries(job.variables.map(({ key, value }) => [key, value]));
