/** Jobs of a project, and what is done to them. Their logs and artifacts: `artifacts/`. */
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import { boolean, id as idParam, object, optional, raw, texts } from '../http/schema.ts';
import { pipelineOf } from '../pipelines/find.ts';
import { type Code, findCode, projectParam } from '../repository/code.ts';
import { cancel, play, retry } from './act.ts';
import { bridgesJson } from './bridges.ts';
import { type FoundJob, findJob, findJobToRun, loadJob } from './find.ts';
import { givenVariables } from './given_variables.ts';
import { actedJobShape, bridgeShape, jobJson, jobShape, jobsJson } from './json.ts';
import { type Scope, listPipelineJobs, listProjectJobs, scopes } from './list.ts';
import type { JobRow } from './rows.ts';

const area = 'jobs';
const project = { id: projectParam };
const one = { ...project, job_id: idParam() };
const ofPipeline = { ...project, pipeline_id: idParam() };
const scope = { scope: optional(texts({ words: scopes, description: 'only jobs of these statuses' })) };

/** The declaration has no other words. */
const scopeOf = (given: string[] | undefined): Scope[] => (given ?? []) as Scope[];

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs',
  summary: 'Jobs of a project, the newest first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...project, ...scope, ...pageParams }),
  reply: jobShape,
  handle: async (call, { id, scope: given, ...page }) => {
    const code = await findCode(call, id, 'read_job');
    const { items, total } = await listProjectJobs(
      call.db,
      code.project.id,
      scopeOf(given),
      pageRequest(page),
    );
    return { items: await jobsJson(call, code, items), total };
  },
});

/** @throws Failure 404 */
const findPipelineCode = async (call: Call, id: number | string, pipelineId: number): Promise<Code> => {
  const code = await findCode(call, id, 'read_job');
  if ((await pipelineOf(call.db, code.project.id, pipelineId)) === null) throw notFound();
  return code;
};

const listOfPipeline = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  summary: 'Jobs of a pipeline, the newest first',
  area,
  audience: 'user',
  list: true,
  params: object({
    ...ofPipeline,
    ...scope,
    include_retried: boolean({ default: true, description: 'also those whose place others have taken' }),
    ...pageParams,
  }),
  reply: jobShape,
  handle: async (call, { id, pipeline_id, scope: given, include_retried, ...page }) => {
    const code = await findPipelineCode(call, id, pipeline_id);
    const wanted = { pipeline_id, scope: scopeOf(given), include_retried, bridge: 0 } as const;
    const { items, total } = await listPipelineJobs(call.db, wanted, pageRequest(page));
    return { items: await jobsJson(call, code, items), total };
  },
});

const bridges = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/bridges',
  summary: 'Jobs of a pipeline that start other pipelines, the newest first',
  area,
  audience: 'user',
  list: true,
  params: object({ ...ofPipeline, ...scope, ...pageParams }),
  reply: bridgeShape,
  handle: async (call, { id, pipeline_id, scope: given, ...page }) => {
    const code = await findPipelineCode(call, id, pipeline_id);
    const wanted = { pipeline_id, scope: scopeOf(given), include_retried: true, bridge: 1 } as const;
    const { items, total } = await listPipelineJobs(call.db, wanted, pageRequest(page));
    return { items: await bridgesJson(call, code, items), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id',
  summary: 'One job',
  area,
  audience: 'user',
  params: object(one),
  reply: jobShape,
  handle: async (call, { id, job_id }) => {
    const { code, job } = await findJob(call, id, job_id);
    return await jobJson(call, code, job);
  },
});

const own = endpoint({
  method: 'GET',
  path: '/job',
  summary: 'The job whose token is sent',
  area,
  audience: 'user',
  jobTokens: true,
  params: object({}),
  reply: jobShape,
  refusals: [404],
  handle: async (call) => {
    const { credential } = actorOf(call);
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

type Act = (call: Call, found: FoundJob) => Promise<JobRow>;

const action = (word: string, summary: string, act: Act) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/jobs/:job_id/${word}`,
    summary,
    area,
    audience: 'user',
    params: object(one),
    reply: actedJobShape,
    handle: async (call, { id, job_id }) => {
      const found = await findJobToRun(call, id, job_id);
      return await jobJson(call, found.code, await act(call, found));
    },
  });

const start = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/play',
  summary: 'Start a manual job (developers)',
  area,
  audience: 'user',
  params: object({
    ...one,
    job_variables_attributes: optional(raw('variables of the job, each with `key` and `value`')),
  }),
  reply: actedJobShape,
  handle: async (call, { id, job_id, job_variables_attributes }) => {
    const variables = givenVariables(job_variables_attributes);
    const found = await findJobToRun(call, id, job_id);
    const job = await play(call, found, variables);
    // The contract's word: no job is ever stored, or listed, as started.
    return { ...(await jobJson(call, found.code, job)), status: 'started' };
  },
});

export const jobRoutes = [
  list,
  listOfPipeline,
  bridges,
  get,
  own,
  action('cancel', 'Cancel a job (developers)', cancel),
  action('retry', 'Run a job that has ended again, as a new one (developers)', retry),
  start,
];
