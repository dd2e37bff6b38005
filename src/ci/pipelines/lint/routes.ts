import { endpoint } from '../../../core/access/endpoint.ts';
import { boolean, longText, object, optional, text } from '../../../platform/http/schema.ts';
import { findCode, projectParam } from '../../../code/repository/find_code.ts';
import { lint } from './lint.ts';
import { type ProjectLint, lintProjectFile, lintProjectText } from './lint_project.ts';
import { lintJson, lintShape, projectLintJson, projectLintShape } from './json.ts';

const area = 'pipelines';
const path = '/projects/:id/ci/lint';
const maxRefLength = 1000;

const refParam = (description: string) => optional(text({ maxLength: maxRefLength, description }));
const flagParam = (description: string) => optional(boolean({ description }));

const outputParams = {
  dry_run: flagParam('also plan the pipeline of a push'),
  include_jobs: flagParam('include the jobs in the reply'),
};

const instanceLint = endpoint({
  method: 'POST',
  path: '/ci/lint',
  summary: 'Validate a CI configuration',
  area,
  audience: 'user',
  status: 200,
  params: object({
    content: longText('content of a `.gitlab-ci.yml`'),
    include_merged_yaml: flagParam('accepted: the reply always includes the merged YAML'),
    include_jobs: outputParams.include_jobs,
  }),
  reply: lintShape,
  handle: async (call, { content, include_jobs = false }) => {
    const simulatedRef = { ref: 'main', ref_type: 'branch' } as const;
    return lintJson(await lint(call, { content, origin: null, simulatedRef, dry_run: false }), include_jobs);
  },
});

type OutputOptions = { include_jobs?: boolean | undefined };

const toReply = ({ lint: result, origin }: ProjectLint, { include_jobs = false }: OutputOptions) => {
  const context = { project: origin?.code.project.full_path ?? null, sha: origin?.commit ?? null };
  return projectLintJson(result, { include_jobs, context });
};

const lintOfProject = endpoint({
  method: 'GET',
  path,
  summary: "Validate a project's CI configuration",
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    content_ref: refParam('commit, branch or tag whose file is validated; default: the default branch'),
    sha: refParam('deprecated name of this parameter'),
    dry_run_ref: refParam('branch or tag used for rules; default: `content_ref`'),
    ref: refParam('deprecated name of this parameter'),
    ...outputParams,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content_ref, sha, dry_run_ref, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id);
    const request = { content_ref: content_ref ?? sha, dry_run_ref: dry_run_ref ?? ref, dry_run };
    return toReply(await lintProjectFile(call, code, request), { include_jobs });
  },
});

const lintInProject = endpoint({
  method: 'POST',
  path,
  summary: 'Validate a CI configuration in the context of a project',
  area,
  audience: 'user',
  status: 200,
  params: object({
    id: projectParam,
    content: longText('content of a `.gitlab-ci.yml`'),
    ref: refParam('branch or tag used for rules and included files; default: the default branch'),
    ...outputParams,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id, 'lint_ci');
    return toReply(await lintProjectText(call, code, { content, ref, dry_run }), { include_jobs });
  },
});

export const lintRoutes = [instanceLint, lintOfProject, lintInProject];
