/** Creates the pipelines of a push: for the branch or tag, and for open merge requests from the branch. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import { anonymous } from '../../../core/access/viewer.ts';
import type { Reader, Store, Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { type Oid, type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { LoadedMergeRequest } from '../../../review/merge_requests/find.ts';
import { loadRequest, loadOpenFrom } from '../../../review/merge_requests/refresh/open_requests.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { unsealOptions } from '../../../code/repository/refs/ci_push_options.ts';
import { type Payload, enqueue } from '../../../platform/queue/enqueue.ts';
import type { RefsMoved } from '../../../code/repository/refs/refs_moved.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { branchPrefix, resolveRevision, tagPrefix } from '../../../code/repository/refs/resolve.ts';
import { configMutexKey } from '../config/config_mutex.ts';
import { type CreateResult, createPipeline } from './create_pipeline.ts';
import { toMergeRequestFacts } from './merge_request_facts.ts';
import type { PipelineRef } from '../predefined_variables/pipeline_predefined.ts';
import { parsePushVariables } from './push_variables.ts';

/** Creates the pipelines of a push; same payload as `repository.refs_moved`. */
export const followPushWork = 'pipelines.follow_push';
/** Creates the first pipeline of a merge request; payload `{ merge_request_id }`. */
export const followRequestWork = 'pipelines.follow_request';

/** Branches and tags of one push, and merge requests of one branch, that get pipelines. */
const maxRefs = 4;
const maxRequests = 4;

const toPipelineRef = (ref: string): PipelineRef =>
  ref.startsWith(tagPrefix)
    ? { name: ref.slice(tagPrefix.length), type: 'tag' }
    : { name: ref.slice(branchPrefix.length), type: 'branch' };

type PushedRef = { project: Project; moved: RefsMoved; update: RefUpdate; ref: PipelineRef; sha: Oid };

/** Checks whether this push already has its pipeline, because the work may run twice. */
const hasPushPipeline =
  ({ project, ref, sha, moved }: PushedRef) =>
  async (tx: Tx): Promise<boolean> => {
    const existing = await tx.db
      .selectFrom('pipelines')
      .select('id')
      .where('project_id', '=', project.id)
      .where('sha', '=', sha)
      .where('ref', '=', ref.name)
      .where('tag', '=', toFlag(ref.type === 'tag'))
      .where('source', '=', 'push')
      .where('created_at', '>=', moved.moved_at)
      .executeTakeFirst();
    return existing !== undefined;
  };

const createRefPipeline = async (platform: Platform, pushed: PushedRef): Promise<void> => {
  const { project, moved, update, ref, sha } = pushed;
  await createPipeline(platform, {
    project,
    ref,
    sha,
    before_sha: ref.type === 'branch' ? (update.old ?? zeroOid) : zeroOid,
    source: 'push',
    user_id: moved.user_id,
    skip: moved.skip_ci,
    variables: parsePushVariables(unsealOptions(platform, moved.sealed_options)).variables,
    isObsolete: hasPushPipeline(pushed),
  });
};

export type MergeRequestPipelineOptions = {
  user_id: number | null;
  skip?: boolean;
  obeysSkipMessage?: boolean;
  /** A pipeline of the head created at or after this time makes another unnecessary; null: always create one. */
  since: number | null;
};

const hasRequestPipelineSince =
  ({ id, head_sha }: LoadedMergeRequest['merge_request'], since: number) =>
  async (tx: Tx): Promise<boolean> => {
    const existing = await tx.db
      .selectFrom('pipelines')
      .select('id')
      .where('merge_request_id', '=', id)
      .where('sha', '=', head_sha)
      .where('source', '=', 'merge_request_event')
      .where('created_at', '>=', since)
      .executeTakeFirst();
    return existing !== undefined;
  };

/**
 * Checks that the user can read the merge request. Jobs get its title and branches as variables, and jobs that run in a
 * fork expose them to readers of the fork's logs.
 */
const maySeeRequest = async (
  { store, clock }: Platform,
  { isVisibleTo, merge_request, project }: LoadedMergeRequest,
  userId: number | null,
): Promise<boolean> => {
  if (merge_request.source_project_id === project.id) return true;
  const viewer = userId === null ? anonymous : await loadActingViewer(store.db, userId, clock.now());
  return viewer !== null && isVisibleTo(viewer);
};

/**
 * Creates a pipeline of a merge request's head in its source project, if the configuration has jobs for it. Refuses
 * users who cannot read the merge request.
 */
export const createMergeRequestPipeline = async (
  platform: Platform,
  target: LoadedMergeRequest,
  { since, ...options }: MergeRequestPipelineOptions,
): Promise<CreateResult> => {
  const { db } = platform.store;
  const { merge_request } = target;
  const facts = await toMergeRequestFacts(db, target);
  const project = facts === null ? null : await loadProject(db, facts.source_project_id);
  const isSeen = await maySeeRequest(platform, target, options.user_id);
  if (facts === null || project === null || merge_request.head_sha === null || !isSeen) {
    return { refused: 'Commit not found' };
  }
  return await createPipeline(platform, {
    ...options,
    project,
    ref: { name: facts.source_branch, type: 'merge_request' },
    sha: merge_request.head_sha,
    source: 'merge_request_event',
    merge_request: facts,
    ...(since !== null && { isObsolete: hasRequestPipelineSince(merge_request, since) }),
  });
};

const createRequestPipelines = async (
  platform: Platform,
  { project, moved, ref, sha }: PushedRef,
): Promise<void> => {
  const { db } = platform.store;
  const requests = await loadOpenFrom(db, project.id, ref.name);
  for (const request of requests.slice(0, maxRequests)) {
    const target = await loadRequest(db, request);
    if (target?.merge_request.head_sha !== sha) continue;
    const { user_id, skip_ci: skip, moved_at: since } = moved;
    await createMergeRequestPipeline(platform, target, { user_id, skip, since });
  }
};

/**
 * Enqueues pipeline creation once the push has updated its merge requests. It is separate work because reading a
 * configuration may take long and must not delay other projects' merge requests.
 */
export const enqueueFollowPush = async (store: Store, payload: Payload): Promise<void> =>
  await store.write(
    async (tx) =>
      await enqueue(tx, followPushWork, payload, { turn: configMutexKey(Number(payload['project_id'])) }),
  );

export const followPush = async (platform: Platform, moved: RefsMoved): Promise<void> => {
  const updates = moved.updates.filter((update) => update.new !== zeroOid).slice(0, maxRefs);
  for (const update of updates) {
    const project = await loadProject(platform.store.db, moved.project_id);
    if (project === null) return;
    const code = { project, repository: getRepository(platform, project) };
    const target = await resolveRevision(code, update.new);
    if (target === null) continue;
    const pushed = { project, moved, update, ref: toPipelineRef(update.ref), sha: target.commit };
    await createRefPipeline(platform, pushed);
    if (pushed.ref.type === 'branch') await createRequestPipelines(platform, pushed);
  }
};

/** Loads an open merge request that has only its first version; null otherwise. */
const loadNewRequest = async (db: Reader, mergeRequestId: number) => {
  const row = await db
    .selectFrom('merge_requests')
    .select(['id', 'project_id', 'source_project_id', 'author_id', 'created_at'])
    .where('id', '=', mergeRequestId)
    .where('state', '=', 'opened')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { versions } = await db
    .selectFrom('merge_request_diffs')
    .select(({ fn }) => fn.countAll<number>().as('versions'))
    .where('merge_request_id', '=', row.id)
    .executeTakeFirstOrThrow();
  return versions === 1 ? row : null;
};

/** Enqueues the first pipeline of a merge request. Called for each version; later versions enqueue nothing. */
export const enqueueFollowRequest = async (store: Store, merge_request_id: number): Promise<void> => {
  const row = await loadNewRequest(store.db, merge_request_id);
  if (row === null) return;
  const turn = configMutexKey(row.source_project_id ?? row.project_id);
  const options = { unique_key: `${followRequestWork}:${row.id}`, turn };
  await store.write(async (tx) => await enqueue(tx, followRequestWork, { merge_request_id }, options));
};

/**
 * Creates the pipeline of a merge request's first version on behalf of its author. Pushes create the pipelines of later
 * versions.
 */
export const followRequest = async (platform: Platform, mergeRequestId: number): Promise<void> => {
  const { db } = platform.store;
  const row = await loadNewRequest(db, mergeRequestId);
  const target = row === null ? null : await loadRequest(db, row);
  if (row === null || target === null) return;
  await createMergeRequestPipeline(platform, target, { user_id: row.author_id, since: row.created_at });
};
