/** A pipeline comes to be: out of a commit, its configuration, and who wants it. */
import type { Platform } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { PipelineSource } from '../db/schema_ci.ts';
import { type Commit, type Oid, zeroOid } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { holdProject } from '../projects/hold.ts';
import { repositoryOf } from '../repository/open.ts';
import type { PipelineRow } from '../repository/pipeline_brief.ts';
import { commitsById } from '../repository/resolve.ts';
import { advance } from './advance.ts';
import type { ReadLeft } from './ci_files.ts';
import { pipelineOf } from './find.ts';
import { type GivenVariable, sealGiven } from './given_variables.ts';
import { type NewPipeline, type Upstream, insertPipeline } from './insert.ts';
import { activityRefusal, paceRefusal } from './limits.ts';
import { requestRefOf } from './merge_request_facts.ts';
import { ensureNewPipelineRef } from './persistent_ref.ts';
import { type Outcome, contentAt, plannedFor } from './planned.ts';
import type { MergeRequestFacts, PipelineRef } from './predefined.ts';
import { admission, makerOf } from './rights.ts';

export type WantedPipeline = {
  project: Project;
  ref: PipelineRef;
  sha: Oid;
  /** What the ref was before; zeros: nothing is known of it. */
  before_sha?: Oid;
  source: PipelineSource;
  /** null: a deploy key, which has pushed. */
  user_id: number | null;
  variables?: readonly GivenVariable[];
  /** With a ref of type `merge_request`. */
  merge_request?: MergeRequestFacts;
  /** `ci.skip` was pushed with it. */
  skip?: boolean;
  /** Whether the message of the commit may say that there is nothing to do; not where somebody asks for it. */
  skippable?: boolean;
  /** A configuration with faults makes a pipeline that has failed; else it is refused for them. */
  keepsFaulty?: boolean;
  /** Of a part of another pipeline: its configuration is none of the project's files. */
  part?: { content: string; left: ReadLeft };
  /** Of one that another pipeline starts. */
  upstream?: Upstream;
  schedule_id?: number;
  /** In the transaction that makes it: whether it is there already. */
  isMade?: (tx: Tx) => Promise<boolean>;
  /** In that transaction, when it is stored. */
  created?: (tx: Tx, pipelineId: number) => Promise<void>;
};

export type Created = { pipeline: PipelineRow } | { refused: string };

/** What is made of it: rows, or the reason why none. */
type Decided =
  | { rows: Omit<NewPipeline, 'pipeline' | 'variables' | 'timeout'> & { add: Added } }
  | { refused: string };
type Added = Partial<Omit<NewPipeline['pipeline'], 'project_id'>>;

const skips = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i;

const isSkipped = ({ skip = false, skippable = true }: WantedPipeline, { message }: Commit): boolean =>
  skip || (skippable && skips.test(message));

const without = (add: Added): Decided => ({ rows: { jobs: [], add } });

const decidedBy = ({ keepsFaulty = true }: WantedPipeline, outcome: Outcome): Decided => {
  if ('refused' in outcome) return outcome;
  if ('faulty' in outcome) {
    const yaml_errors = outcome.faulty.join('\n');
    if (!keepsFaulty) return { refused: yaml_errors };
    return without({ status: 'failed', yaml_errors, failure_reason: 'config_error' });
  }
  const { name, auto_cancel, jobs } = outcome.plan;
  const { on_new_commit, on_job_failure } = auto_cancel;
  const add = { name, auto_cancel: on_new_commit ?? 'conservative' } as const;
  return { rows: { jobs, add, cancel_on_failure: on_job_failure === 'all' } };
};

type Judged = { decided: Decided; isProtected: boolean };

const refuse = (refused: string): Judged => ({ decided: { refused }, isProtected: false });

const judge = async (platform: Platform, wanted: WantedPipeline): Promise<Judged> => {
  const { project, ref, sha, source, before_sha = zeroOid, variables = [], merge_request, user_id } = wanted;
  const maker = user_id === null ? null : await makerOf(platform, user_id);
  if (user_id !== null && maker === null) return refuse('Insufficient permissions to create a new pipeline');
  if (project.builds_access_level === 'disabled' || project.archived === 1)
    return refuse('Pipeline is disabled');
  const { isProtected, refused } = await admission(platform, project, ref, maker);
  if (refused !== null) return refuse(refused);
  const code = { project, repository: repositoryOf(platform, project) };
  const commit = (await commitsById(code.repository, [sha])).get(sha);
  if (commit === undefined) return refuse('Commit not found');
  const { part } = wanted;
  const content = part === undefined ? await contentAt({ code, commit: sha }) : { text: part.content };
  if ('refused' in content) return refuse(content.refused);
  if (isSkipped(wanted, commit)) return { decided: without({ status: 'skipped' }), isProtected };
  const occasion = { code, ref, commit, before_sha, source, isProtected, maker, variables };
  const outcome =
    'faulty' in content
      ? content
      : await plannedFor(
          platform,
          { ...occasion, ...(merge_request && { merge_request }), ...(part && { left: part.left }) },
          content.text,
        );
  return { decided: decidedBy(wanted, outcome), isProtected };
};

const rowOf = (wanted: WantedPipeline, isProtected: boolean): NewPipeline['pipeline'] => {
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
  } = wanted;
  // Of a fork, the ref of the request is another project's.
  const isOwn = ref.type === 'merge_request' && merge_request?.project_id === project.id;
  return {
    project_id: project.id,
    ref: isOwn ? requestRefOf(merge_request.iid) : ref.name,
    tag: ref.type === 'tag' ? 1 : 0,
    sha,
    before_sha,
    source,
    protected: isProtected ? 1 : 0,
    user_id,
    merge_request_id: merge_request?.id ?? null,
    schedule_id: schedule_id ?? null,
    ...upstream,
  };
};

/** Parts of another pipeline are as many as that says. */
const paceOf = async (platform: Platform, db: Reader, wanted: WantedPipeline): Promise<string | null> =>
  wanted.upstream === undefined ? await paceRefusal(db, platform.config, wanted, platform.clock.now()) : null;

const store = async (platform: Platform, wanted: WantedPipeline, made: NewPipeline): Promise<Created> =>
  await platform.store.write(async (tx) => {
    const { id: project_id } = wanted.project;
    await holdProject(tx, project_id);
    if ((await wanted.isMade?.(tx)) === true) return { refused: 'Pipeline was made already' };
    const refused =
      (await paceOf(platform, tx.db, wanted)) ??
      (await activityRefusal(tx.db, platform.config, project_id, made.jobs.length));
    if (refused !== null) return { refused };
    const id = await insertPipeline(tx, made);
    if (made.jobs.length > 0) await advance(tx, id);
    await wanted.created?.(tx, id);
    const pipeline = await pipelineOf(tx.db, project_id, id);
    if (pipeline === null) throw new Error(`pipeline ${id} was not stored`);
    return { pipeline };
  });

/**
 * Makes a pipeline, or says why there is none. Its jobs are on their way when it answers.
 * @throws Failure 404 for a project that is going
 */
export const createPipeline = async (platform: Platform, wanted: WantedPipeline): Promise<Created> => {
  // Before anything is read for it; again when it is stored, for there may be others.
  const refused = await paceOf(platform, platform.store.db, wanted);
  if (refused !== null) return { refused };
  const { decided, isProtected } = await judge(platform, wanted);
  if ('refused' in decided) return decided;
  const { add, ...rows } = decided.rows;
  const created = await store(platform, wanted, {
    ...rows,
    pipeline: { ...rowOf(wanted, isProtected), ...add },
    variables: sealGiven(platform, wanted.variables ?? []),
    timeout: wanted.project.build_timeout,
  });
  if ('pipeline' in created && rows.jobs.length > 0) await ensureNewPipelineRef(platform, created.pipeline);
  return created;
};
