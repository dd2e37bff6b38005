/** Creates a pipeline from a commit and its configuration, on behalf of a user. */
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { PipelineSource } from '../../../platform/db/schema/ci.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { type Commit, type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { holdProject, projectTurn } from '../../../projects/projects/lock_project.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { PipelineRow } from '../../../code/repository/statuses/pipeline_summary.ts';
import { loadCommits } from '../../../code/repository/refs/resolve.ts';
import { advancePipeline } from '../processing/advance_pipeline.ts';
import type { ReadArtifactText } from '../config/ci_files.ts';
import { pipelinesOfProject } from '../find.ts';
import { type PipelineVariable, sealPipelineVariables } from './pipeline_variables.ts';
import { type NewPipeline, type Upstream, insertPipeline } from './insert_pipeline.ts';
import { getActiveJobsRefusal, getRateLimitRefusal } from './limits.ts';
import { mergeRequestRefFor } from './merge_request_facts.ts';
import { createPipelineRef } from './persistent_ref.ts';
import { type PlanOutcome, loadConfigText, planPipeline } from './plan_commit.ts';
import type { MergeRequestFacts, PipelineRef } from '../predefined_variables/pipeline_predefined.ts';
import { authorizePipeline, loadCreator } from './creation_rights.ts';

export type PipelineRequest = {
  project: Project;
  ref: PipelineRef;
  sha: Oid;
  /** The previous commit of the ref; all zeros if unknown. */
  before_sha?: Oid;
  source: PipelineSource;
  /** null for a push with a deploy key. */
  user_id: number | null;
  variables?: readonly PipelineVariable[];
  /** Required with a ref of type `merge_request`. */
  merge_request?: MergeRequestFacts;
  /** True if the push option `ci.skip` was set. */
  skip?: boolean;
  /**
   * True if `[ci skip]` in the commit message applies (default). False for pipelines that do not start from a push,
   * such as manual, scheduled, triggered and downstream pipelines.
   */
  obeysSkipMessage?: boolean;
  /** True if an invalid configuration creates a failed pipeline (default); false if it is refused. */
  storesInvalid?: boolean;
  /** Configuration of a child pipeline, used instead of the project's file. */
  child?: { content: string; readArtifact: ReadArtifactText };
  /** The pipeline and job that start this one. */
  upstream?: Upstream;
  schedule_id?: number;
  /** Checks in the creating transaction that the pipeline is still needed. */
  isObsolete?: (tx: Tx) => Promise<boolean>;
  /** Runs in the creating transaction after the pipeline is stored. */
  onCreated?: (tx: Tx, pipelineId: number) => Promise<void>;
};

export type CreateResult = { pipeline: PipelineRow } | { refused: string };

/** The rows to insert, or the reason why there is no pipeline. */
type CreationPlan =
  | { parts: Omit<NewPipeline, 'pipeline' | 'variables' | 'timeout'> & { extraColumns: ExtraColumns } }
  | { refused: string };
type ExtraColumns = Partial<Omit<NewPipeline['pipeline'], 'project_id'>>;

const skipMessagePattern = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i;

const isSkipped = (
  { skip = false, obeysSkipMessage = true }: PipelineRequest,
  { message }: Commit,
): boolean => skip || (obeysSkipMessage && skipMessagePattern.test(message));

const withoutJobs = (extraColumns: ExtraColumns): CreationPlan => ({ parts: { jobs: [], extraColumns } });

const toCreationPlan = ({ storesInvalid = true }: PipelineRequest, outcome: PlanOutcome): CreationPlan => {
  if ('refused' in outcome) return outcome;
  if ('configErrors' in outcome) {
    const yaml_errors = outcome.configErrors.join('\n');
    if (!storesInvalid) return { refused: yaml_errors };
    return withoutJobs({ status: 'failed', yaml_errors, failure_reason: 'config_error' });
  }
  const { name, auto_cancel, jobs } = outcome.plan;
  const { on_new_commit, on_job_failure } = auto_cancel;
  const extraColumns = { name, auto_cancel: on_new_commit ?? 'conservative' } as const;
  return { parts: { jobs, extraColumns, cancel_on_failure: on_job_failure === 'all' } };
};

type Evaluation = { plan: CreationPlan; isProtected: boolean };

const refuse = (refused: string): Evaluation => ({ plan: { refused }, isProtected: false });

const evaluateRequest = async (platform: Platform, request: PipelineRequest): Promise<Evaluation> => {
  const { project, ref, sha, source, before_sha = zeroOid, variables = [], merge_request, user_id } = request;
  const creator = user_id === null ? null : await loadCreator(platform, user_id);
  if (user_id !== null && creator === null)
    return refuse('Insufficient permissions to create a new pipeline');
  if (project.builds_access_level === 'disabled' || project.archived === 1)
    return refuse('Pipeline is disabled');
  const { isProtected, refused } = await authorizePipeline(platform, project, ref, creator);
  if (refused !== null) return refuse(refused);
  const code = { project, repository: getRepository(platform, project) };
  const commit = (await loadCommits(code.repository, [sha])).get(sha);
  if (commit === undefined) return refuse('Commit not found');
  const { child } = request;
  const content = child === undefined ? await loadConfigText({ code, commit: sha }) : { text: child.content };
  if ('refused' in content) return refuse(content.refused);
  if (isSkipped(request, commit)) return { plan: withoutJobs({ status: 'skipped' }), isProtected };
  const context = { code, ref, commit, before_sha, source, isProtected, creator, variables };
  const outcome =
    'configErrors' in content
      ? content
      : await planPipeline(
          platform,
          {
            ...context,
            ...(merge_request && { merge_request }),
            ...(child && { readArtifact: child.readArtifact }),
          },
          content.text,
        );
  return { plan: toCreationPlan(request, outcome), isProtected };
};

const toPipelineColumns = (request: PipelineRequest, isProtected: boolean): NewPipeline['pipeline'] => {
  const {
    project,
    ref,
    sha,
    before_sha = zeroOid,
    source,
    user_id,
    merge_request,
    schedule_id,
    upstream,
  } = request;
  // In a fork the pipeline has the branch as its ref: the merge request's ref exists in the target project only.
  const isInTargetProject = ref.type === 'merge_request' && merge_request?.project_id === project.id;
  return {
    project_id: project.id,
    ref: isInTargetProject ? mergeRequestRefFor(merge_request.iid) : ref.name,
    tag: toFlag(ref.type === 'tag'),
    sha,
    before_sha,
    source,
    protected: toFlag(isProtected),
    user_id,
    merge_request_id: merge_request?.id ?? null,
    schedule_id: schedule_id ?? null,
    ...upstream,
  };
};

/** Returns why the rate limit refuses the pipeline, or null. Downstream pipelines have no rate limit. */
const getRateRefusal = async (
  platform: Platform,
  db: Reader,
  request: PipelineRequest,
): Promise<string | null> =>
  request.upstream === undefined
    ? await getRateLimitRefusal(db, platform.config, request, platform.clock.now())
    : null;

const storePipeline = async (
  platform: Platform,
  request: PipelineRequest,
  newPipeline: NewPipeline,
): Promise<CreateResult> =>
  await platform.store.write(async (tx) => {
    const { id: project_id } = request.project;
    await holdProject(tx, project_id);
    if ((await request.isObsolete?.(tx)) === true) return { refused: 'Pipeline is no longer needed' };
    const refused =
      (await getRateRefusal(platform, tx.db, request)) ??
      (await getActiveJobsRefusal(tx.db, platform.config, project_id, newPipeline.jobs.length));
    if (refused !== null) return { refused };
    const id = await insertPipeline(tx, newPipeline);
    if (newPipeline.jobs.length > 0) await advancePipeline(tx, id);
    await request.onCreated?.(tx, id);
    const pipeline = await pipelinesOfProject(tx.db, project_id, id);
    if (pipeline === null) throw new Error(`pipeline ${id} was not stored`);
    return { pipeline };
  }, projectTurn(request.project.id));

/**
 * Creates a pipeline and starts its first jobs, or returns why there is no pipeline.
 * @throws Failure 404 for a project that is being deleted
 */
export const createPipeline = async (platform: Platform, request: PipelineRequest): Promise<CreateResult> => {
  // Checked before the configuration is read, and again in the transaction for concurrent requests.
  const refused = await getRateRefusal(platform, platform.store.db, request);
  if (refused !== null) return { refused };
  const { plan, isProtected } = await evaluateRequest(platform, request);
  if ('refused' in plan) return plan;
  const { extraColumns, ...parts } = plan.parts;
  const created = await storePipeline(platform, request, {
    ...parts,
    pipeline: { ...toPipelineColumns(request, isProtected), ...extraColumns },
    variables: sealPipelineVariables(platform, request.variables ?? []),
    timeout: request.project.build_timeout,
  });
  if ('pipeline' in created && parts.jobs.length > 0) await createPipelineRef(platform, created.pipeline);
  return created;
};
