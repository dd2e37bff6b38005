/** Endpoints of jobs. Logs and artifacts are in `artifacts/`. */
import { type Call, requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { boolean, id as idParam, object, optional, raw, texts } from '../../platform/http/schema.ts';
import { pipelinesOfProject } from '../pipelines/find.ts';
import { type Code, findCode, projectParam } from '../../code/repository/find_code.ts';
import { cancel, play, retry } from './user_actions.ts';
import { triggerJobsJson } from './trigger_job_json.ts';
import { type LoadedJob, findJob, findJobToRun, loadJob } from './find.ts';
import { parseJobVariables } from './parse_job_variables.ts';
import { jobActionShape, bridgeShape, jobJson, jobShape, jobsJson } from './json.ts';
import { type Scope, listPipelineJobs, listProjectJobs, scopes } from './list_jobs.ts';
import type { JobRow } from './rows.ts';

const area = 'jobs';
const project = { id: projectParam };
const jobParams = { ...project, job_id: idParam() };
const pipelineParams = { ...project, pipeline_id: idParam() };
const scope = { scope: optional(texts({ words: scopes, description: 'only jobs with these statuses' })) };

/** Narrows the type; the declaration has already validated the values. */
const toScopes = (names: string[] | undefined): Scope[] => (names ?? []) as Scope[];

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs',
  summary: 'List jobs of a project, newest first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...project, ...scope, ...pageParams }),
  reply: jobShape,
  handle: async (call, { id, scope: requested, ...page }) => {
    const code = await findCode(call, id, 'read_job');
    const { items, total } = await listProjectJobs(
      call,
      code.project.id,
      { scope: toScopes(requested) },
      pageRequest(page),
    );
    return { items: await jobsJson(call, code, items), total };
  },
});

/** @throws Failure 404 */
const findPipelineCode = async (call: Call, id: number | string, pipelineId: number): Promise<Code> => {
  const code = await findCode(call, id, 'read_job');
  if ((await pipelinesOfProject(call.db, code.project.id, pipelineId)) === null) throw notFound();
  return code;
};

const listOfPipeline = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  summary: 'List jobs of a pipeline, newest first',
  area,
  audience: 'user',
  list: true,
  params: object({
    ...pipelineParams,
    ...scope,
    include_retried: boolean({ default: true, description: 'include retried jobs' }),
    ...pageParams,
  }),
  reply: jobShape,
  handle: async (call, { id, pipeline_id, scope: requested, include_retried, ...page }) => {
    const code = await findPipelineCode(call, id, pipeline_id);
    const query = { pipeline_id, scope: toScopes(requested), include_retried, bridge: 0 } as const;
    const { items, total } = await listPipelineJobs(call.db, query, pageRequest(page));
    return { items: await jobsJson(call, code, items), total };
  },
});

const bridges = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/bridges',
  summary: 'List trigger jobs of a pipeline, newest first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...pipelineParams, ...scope, ...pageParams }),
  reply: bridgeShape,
  handle: async (call, { id, pipeline_id, scope: requested, ...page }) => {
    const code = await findPipelineCode(call, id, pipeline_id);
    const query = { pipeline_id, scope: toScopes(requested), include_retried: true, bridge: 1 } as const;
    const { items, total } = await listPipelineJobs(call.db, query, pageRequest(page));
    return { items: await triggerJobsJson(call, code, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id',
  summary: 'Get a job',
  area,
  audience: 'user',
  params: object(jobParams),
  reply: jobShape,
  handle: async (call, { id, job_id }) => {
    const { code, job } = await findJob(call, id, job_id);
    return await jobJson(call, code, job);
  },
});

const ownJob = endpoint({
  method: 'GET',
  path: '/job',
  summary: 'Get the job whose token authenticates the request',
  area,
  audience: 'user',
  jobTokens: true,
  params: object({}),
  reply: jobShape,
  refusals: [404],
  handle: async (call) => {
    const { credential } = requireActor(call);
    if (credential.kind !== 'job') throw notFound();
    const { project_id } = await call.db
      .selectFrom('jobs')
      .select('project_id')
      .where('id', '=', credential.id)
      .executeTakeFirstOrThrow();
    const code = await findCode(call, project_id, 'read_project');
    return await jobJson(call, code, await loadJob(call.db, project_id, credential.id));
  },
});

type JobAction = (call: Call, loadedJob: LoadedJob) => Promise<JobRow>;

const action = (word: string, summary: string, perform: JobAction) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/jobs/:job_id/${word}`,
    summary,
    area,
    audience: 'user',
    params: object(jobParams),
    reply: jobActionShape,
    handle: async (call, { id, job_id }) => {
      const loadedJob = await findJobToRun(call, id, job_id);
      return await jobJson(call, loadedJob.code, await perform(call, loadedJob));
    },
  });

const start = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/play',
  summary: 'Start a manual job (developers)',
  area,
  audience: 'user',
  params: object({
    ...jobParams,
    job_variables_attributes: optional(raw('variables of the job, each with `key` and `value`')),
  }),
  reply: jobActionShape,
  handle: async (call, { id, job_id, job_variables_attributes }) => {
    const variables = parseJobVariables(job_variables_attributes);
    const loadedJob = await findJobToRun(call, id, job_id);
    const job = await play(call, loadedJob, variables);
    // Fixed by the contract. No job is stored or listed as `started`.
    return { ...(await jobJson(call, loadedJob.code, job)), status: 'started' };
  },
});

export const jobRoutes = [
  list,
  listOfPipeline,
  bridges,
  get,
  ownJob,
  action('cancel', 'Cancel a job (developers)', cancel),
  action('retry', 'Retry a job as a new job (developers)', retry),
  start,
];
