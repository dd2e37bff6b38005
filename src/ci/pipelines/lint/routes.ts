import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { may } from '../../../core/access/may.ts';
import { forbidden } from '../../../platform/errors.ts';
import { boolean, longText, object, optional, text } from '../../../platform/http/schema.ts';
import { type Code, findCode, projectParam } from '../../../code/repository/find_code.ts';
import { refusal } from '../../../code/repository/refs/resolve.ts';
import { readProjectConfig } from '../config/ci_files.ts';
import { type LintRequest, resolveOrigin, lint } from './lint.ts';
import { lintJson, lintShape, projectLintJson, projectLintShape } from './json.ts';

const area = 'pipelines';
const path = '/projects/:id/ci/lint';
const maxRefLength = 1000;

const refParam = (description: string) => optional(text({ maxLength: maxRefLength, description }));
const flagParam = (description: string) => optional(boolean({ description }));

const outputParams = {
  dry_run: flagParam('also plan the pipeline that a push would create'),
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
    include_merged_yaml: flagParam('the merged YAML is always in the reply'),
    include_jobs: outputParams.include_jobs,
  }),
  reply: lintShape,
  handle: async (call, { content, include_jobs = false }) => {
    const simulatedRef = { ref: 'main', ref_type: 'branch' } as const;
    return lintJson(await lint(call, { content, origin: null, simulatedRef, dry_run: false }), include_jobs);
  },
});

type OutputOptions = { dry_run?: boolean | undefined; include_jobs?: boolean | undefined };

const toReply = async (call: Call, request: LintRequest, { include_jobs = false }: OutputOptions) => {
  const { origin } = request;
  const context = { project: origin?.code.project.full_path ?? null, sha: origin?.commit ?? null };
  return projectLintJson(await lint(call, request), { include_jobs, context });
};

const requireOrigin = async (code: Code, revision: string | undefined) => {
  const resolved = await resolveOrigin(code, revision);
  if (resolved === null) throw refusal('not_found', '404 Commit Not Found');
  return resolved;
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
    sha: refParam('older name of the same parameter'),
    dry_run_ref: refParam('branch or tag for which rules are evaluated; default: that of the file'),
    ref: refParam('older name of the same parameter'),
    ...outputParams,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content_ref, sha, dry_run_ref, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id);
    if (dry_run && !may(call.viewer, 'lint_ci', code.project)) throw forbidden();
    const { origin, simulatedRef } = await requireOrigin(code, content_ref ?? sha);
    const simulatedRefName = dry_run_ref ?? ref;
    const target =
      simulatedRefName === undefined
        ? simulatedRef
        : (await requireOrigin(code, simulatedRefName)).simulatedRef;
    const read = await readProjectConfig(origin);
    const content = 'text' in read ? read.text : read.problem === 'missing' ? '' : null;
    return await toReply(call, { content, origin, simulatedRef: target, dry_run }, { include_jobs });
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
    ref: refParam(
      'branch or tag for which rules are evaluated and whose files are included; default: the default branch',
    ),
    ...outputParams,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id, 'lint_ci');
    const resolved = ref === undefined ? await resolveOrigin(code, ref) : await requireOrigin(code, ref);
    const simulatedRef = resolved?.simulatedRef ?? {
      ref: code.project.default_branch ?? 'main',
      ref_type: 'branch' as const,
    };
    return await toReply(
      call,
      { content, origin: resolved?.origin ?? null, simulatedRef, dry_run },
      { include_jobs },
    );
  },
});

export const lintRoutes = [instanceLint, lintOfProject, lintInProject];
