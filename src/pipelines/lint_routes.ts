import { type Call, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden } from '../errors.ts';
import { boolean, longText, object, optional, text } from '../http/schema.ts';
import { type Code, findCode, projectParam } from '../repository/code.ts';
import { refusal } from '../repository/resolve.ts';
import { readProjectConfig } from './ci_files.ts';
import { type Linted, findOrigin, lint } from './lint.ts';
import { lintJson, lintShape, projectLintJson, projectLintShape } from './lint_json.ts';

const area = 'pipelines';
const path = '/projects/:id/ci/lint';
const longestRef = 1000;

const refParam = (description: string) => optional(text({ maxLength: longestRef, description }));
const flag = (description: string) => optional(boolean({ description }));

const choices = {
  dry_run: flag('also make a pipeline of it, as a push would, without keeping it'),
  include_jobs: flag('answer the jobs, too'),
};

const instanceLint = endpoint({
  method: 'POST',
  path: '/ci/lint',
  summary: 'Whether a text is a valid configuration',
  area,
  audience: 'user',
  status: 200,
  params: object({
    content: longText('of a `.gitlab-ci.yml`'),
    include_merged_yaml: flag('it is always answered'),
    include_jobs: choices.include_jobs,
  }),
  reply: lintShape,
  handle: async (call, { content, include_jobs = false }) => {
    const tried = { ref: 'main', ref_type: 'branch' } as const;
    return lintJson(await lint(call, { content, origin: null, tried, dry_run: false }), include_jobs);
  },
});

type Choice = { dry_run?: boolean | undefined; include_jobs?: boolean | undefined };

const answer = async (call: Call, linted: Linted, { include_jobs = false }: Choice) => {
  const { origin } = linted;
  const context = { project: origin?.code.project.full_path ?? null, sha: origin?.commit ?? null };
  return projectLintJson(await lint(call, linted), { include_jobs, context });
};

const requireOrigin = async (code: Code, revision: string | undefined) => {
  const found = await findOrigin(code, revision);
  if (found === null) throw refusal('not_found', '404 Commit Not Found');
  return found;
};

const lintOfProject = endpoint({
  method: 'GET',
  path,
  summary: "Whether a project's configuration is valid",
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    content_ref: refParam('commit, branch or tag whose file is looked at; default: the default branch'),
    sha: refParam('the same, by its older name'),
    dry_run_ref: refParam('branch or tag for which the rules are tried; default: that of the file'),
    ref: refParam('the same, by its older name'),
    ...choices,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content_ref, sha, dry_run_ref, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id);
    if (dry_run && !may(call.viewer, 'lint_ci', code.project)) throw forbidden();
    const { origin, tried } = await requireOrigin(code, content_ref ?? sha);
    const other = dry_run_ref ?? ref;
    const asked = other === undefined ? tried : (await requireOrigin(code, other)).tried;
    const read = await readProjectConfig(origin);
    const content = 'text' in read ? read.text : read.problem === 'missing' ? '' : null;
    return await answer(call, { content, origin, tried: asked, dry_run }, { include_jobs });
  },
});

const lintInProject = endpoint({
  method: 'POST',
  path,
  summary: 'Whether a text is a valid configuration of a project',
  area,
  audience: 'user',
  status: 200,
  params: object({
    id: projectParam,
    content: longText('of a `.gitlab-ci.yml`'),
    ref: refParam(
      'branch or tag for which the rules are tried, and whose files are included; default: the default branch',
    ),
    ...choices,
  }),
  reply: projectLintShape,
  handle: async (call, { id, content, ref, dry_run = false, include_jobs }) => {
    const code = await findCode(call, id, 'lint_ci');
    const found = ref === undefined ? await findOrigin(code, ref) : await requireOrigin(code, ref);
    const tried = found?.tried ?? { ref: code.project.default_branch ?? 'main', ref_type: 'branch' as const };
    return await answer(call, { content, origin: found?.origin ?? null, tried, dry_run }, { include_jobs });
  },
});

export const lintRoutes = [instanceLint, lintOfProject, lintInProject];
