import type { PlannedJob } from '../../ci_file/plan.ts';
import type { Included } from '../../ci_file/config_types.ts';
import type { Problem } from '../../ci_file/syntax/problems.ts';
import {
  anything,
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
} from '../../../platform/http/schema.ts';
import type { Lint } from './lint.ts';

const problemShape = object({
  text: string,
  severity: string,
  /** null if the problem has no position. */
  file: nullable(string),
  line: nullable(int),
  column: nullable(int),
});

const jobShape = object({
  name: string,
  stage: string,
  before_script: array(string),
  script: array(string),
  after_script: array(string),
  tag_list: array(string),
  environment: nullable(string),
  when: string,
  allow_failure: bool,
  needs: nullable(anything),
});

const includeShape = object({
  type: string,
  location: string,
  blob: nullable(string),
  raw: nullable(string),
  extra: anything,
  context_project: nullable(string),
  context_sha: nullable(string),
});

const sharedFields = {
  valid: bool,
  errors: array(string),
  warnings: array(string),
  merged_yaml: nullable(string),
  includes: array(includeShape),
  jobs: optional(array(jobShape)),
  problems: array(problemShape),
};

export const projectLintShape = object(sharedFields);
export const lintShape = object({ status: string, ...sharedFields });

const problemJson =
  (severity: 'error' | 'warning') =>
  ({ text, position }: Problem) => ({
    text,
    severity,
    file: position?.file ?? null,
    line: position?.line ?? null,
    column: position?.column ?? null,
  });

const jobJson = (job: PlannedJob) => ({
  name: job.name,
  stage: job.stage,
  before_script: job.before_script,
  script: job.script,
  after_script: job.after_script,
  tag_list: job.tags,
  environment: job.environment?.name ?? null,
  when: job.when,
  allow_failure: job.allow_failure,
  needs: job.needs?.map(({ job: name, artifacts, optional }) => ({ name, artifacts, optional })) ?? null,
});

type Context = { project: string | null; sha: string | null };

const includeJson =
  ({ project, sha }: Context) =>
  ({ type, location, extra }: Included) => ({
    type,
    location,
    blob: null,
    raw: null,
    extra,
    context_project: project,
    context_sha: sha,
  });

type LintJsonOptions = { include_jobs: boolean; context: Context };

export const projectLintJson = (lint: Lint, { include_jobs, context }: LintJsonOptions) => ({
  valid: lint.errors.length === 0,
  errors: lint.errors.map(({ text }) => text),
  warnings: lint.warnings.map(({ text }) => text),
  merged_yaml: lint.merged_yaml,
  includes: lint.includes.map(includeJson(context)),
  ...(include_jobs && { jobs: lint.jobs.map(jobJson) }),
  problems: [...lint.errors.map(problemJson('error')), ...lint.warnings.map(problemJson('warning'))],
});

/** Converts for release 10.0 clients: only the first error, in its old wording. `problems` has all of them. */
export const lintJson = (lint: Lint, include_jobs: boolean) => {
  const json = projectLintJson(lint, { include_jobs, context: { project: null, sha: null } });
  const errors = lint.errors.slice(0, 1).map(({ old_text }) => old_text);
  return { ...json, status: json.valid ? 'valid' : 'invalid', errors };
};
