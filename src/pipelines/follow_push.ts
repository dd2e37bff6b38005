/** What was pushed gets its pipelines: of the branch or tag, and of the open merge requests from the branch. */
import { actingViewer } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import { anonymous } from '../access/viewer.ts';
import type { Reader, Store, Tx } from '../db/open.ts';
import { type Oid, type RefUpdate, zeroOid } from '../git/protocol_types.ts';
import type { FoundMergeRequest } from '../merge_requests/find.ts';
import { loadRequest, openFrom } from '../merge_requests/open_requests.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { openOptions } from '../repository/ci_push_options.ts';
import { type Payload, enqueue } from '../queue/queue.ts';
import type { RefsMoved } from '../repository/refs_moved.ts';
import { repositoryOf } from '../repository/open.ts';
import { branchPrefix, resolveRevision, tagPrefix } from '../repository/resolve.ts';
import { configTurn } from './config_turn.ts';
import { type Created, createPipeline } from './create.ts';
import { requestFacts } from './merge_request_facts.ts';
import type { PipelineRef } from './predefined.ts';
import { pushVariables } from './push_variables.ts';

/** What was pushed wants its pipelines: payload as that of `repository.refs_moved`. */
export const followPushWork = 'pipelines.follow_push';
/** A new merge request wants one: payload `{ merge_request_id }`. */
export const followRequestWork = 'pipelines.follow_request';

/** Branches and tags of one push that get pipelines, and requests of one branch. */
const mostRefs = 4;
const mostRequests = 4;

const refOf = (ref: string): PipelineRef =>
  ref.startsWith(tagPrefix)
    ? { name: ref.slice(tagPrefix.length), type: 'tag' }
    : { name: ref.slice(branchPrefix.length), type: 'branch' };

type Pushed = { project: Project; moved: RefsMoved; update: RefUpdate; ref: PipelineRef; sha: Oid };

/** Whether this push has its pipeline: it may be followed twice. */
const isMadeFor =
  ({ project, ref, sha, moved }: Pushed) =>
  async (tx: Tx): Promise<boolean> => {
    const made = await tx.db
      .selectFrom('pipelines')
      .select('id')
      .where('project_id', '=', project.id)
      .where('sha', '=', sha)
      .where('ref', '=', ref.name)
      .where('tag', '=', ref.type === 'tag' ? 1 : 0)
      .where('source', '=', 'push')
      .where('created_at', '>=', moved.moved_at)
      .executeTakeFirst();
    return made !== undefined;
  };

const ofRef = async (platform: Platform, pushed: Pushed): Promise<void> => {
  const { project, moved, update, ref, sha } = pushed;
  await createPipeline(platform, {
    project,
    ref,
    sha,
    before_sha: ref.type === 'branch' ? (update.old ?? zeroOid) : zeroOid,
    source: 'push',
    user_id: moved.user_id,
    skip: moved.skip_ci,
    variables: pushVariables(openOptions(platform, moved.sealed_options)).variables,
    isMade: isMadeFor(pushed),
  });
};

export type WantedByRequest = {
  user_id: number | null;
  skip?: boolean;
  skippable?: boolean;
  /** A pipeline of the head that is as new as this counts as made; null: none does. */
  since: number | null;
};

const isMadeSince =
  ({ id, head_sha }: FoundMergeRequest['merge_request'], since: number) =>
  async (tx: Tx): Promise<boolean> => {
    const made = await tx.db
      .selectFrom('pipelines')
      .select('id')
      .where('merge_request_id', '=', id)
      .where('sha', '=', head_sha)
      .where('source', '=', 'merge_request_event')
      .where('created_at', '>=', since)
      .executeTakeFirst();
    return made !== undefined;
  };

/** Jobs are told what the request is; those of a fork tell it to who reads their logs there. */
const maySeeRequest = async (
  { store, clock }: Platform,
  { isVisibleTo, merge_request, project }: FoundMergeRequest,
  userId: number | null,
): Promise<boolean> => {
  if (merge_request.source_project_id === project.id) return true;
  const viewer = userId === null ? anonymous : await actingViewer(store.db, userId, clock.now());
  return viewer !== null && isVisibleTo(viewer);
};

/**
 * A pipeline of a merge request's head, in the project that it comes from; where the configuration has any for it.
 * None in the name of one who does not see the request.
 */
export const createForRequest = async (
  platform: Platform,
  found: FoundMergeRequest,
  { since, ...wanted }: WantedByRequest,
): Promise<Created> => {
  const { db } = platform.store;
  const { merge_request } = found;
  const facts = await requestFacts(db, found);
  const project = facts === null ? null : await loadProject(db, facts.source_project_id);
  const isSeen = await maySeeRequest(platform, found, wanted.user_id);
  if (facts === null || project === null || merge_request.head_sha === null || !isSeen) {
    return { refused: 'Commit not found' };
  }
  return await createPipeline(platform, {
    ...wanted,
    project,
    ref: { name: facts.source_branch, type: 'merge_request' },
    sha: merge_request.head_sha,
    source: 'merge_request_event',
    merge_request: facts,
    ...(since !== null && { isMade: isMadeSince(merge_request, since) }),
  });
};

const ofRequests = async (platform: Platform, { project, moved, ref, sha }: Pushed): Promise<void> => {
  const { db } = platform.store;
  const requests = await openFrom(db, project.id, ref.name);
  for (const request of requests.slice(0, mostRequests)) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const found = await loadRequest(db, request);
    if (found?.merge_request.head_sha !== sha) continue;
    const { user_id, skip_ci: skip, moved_at: since } = moved;
    // oxlint-disable-next-line no-await-in-loop
    await createForRequest(platform, found, { user_id, skip, since });
  }
};

/**
 * Once those have looked who follow merge requests. It is work of its own, for to read a configuration may take long,
 * and no other project's merge requests wait for that.
 */
export const followPushLater = async (store: Store, payload: Payload): Promise<void> =>
  await store.write(
    async (tx) =>
      await enqueue(tx, followPushWork, payload, { turn: configTurn(Number(payload['project_id'])) }),
  );

export const followPush = async (platform: Platform, moved: RefsMoved): Promise<void> => {
  const updates = moved.updates.filter((update) => update.new !== zeroOid).slice(0, mostRefs);
  for (const update of updates) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const project = await loadProject(platform.store.db, moved.project_id);
    if (project === null) return;
    const code = { project, repository: repositoryOf(platform, project) };
    // oxlint-disable-next-line no-await-in-loop
    const found = await resolveRevision(code, update.new);
    if (found === null) continue;
    const pushed = { project, moved, update, ref: refOf(update.ref), sha: found.commit };
    // oxlint-disable-next-line no-await-in-loop
    await ofRef(platform, pushed);
    // oxlint-disable-next-line no-await-in-loop
    if (pushed.ref.type === 'branch') await ofRequests(platform, pushed);
  }
};

/** The request, while its first version is the only one. */
const newRequest = async (db: Reader, mergeRequestId: number) => {
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

/** Told of each version. */
export const followRequestLater = async (store: Store, merge_request_id: number): Promise<void> => {
  const row = await newRequest(store.db, merge_request_id);
  if (row === null) return;
  const turn = configTurn(row.source_project_id ?? row.project_id);
  const options = { unique_key: `${followRequestWork}:${row.id}`, turn };
  await store.write(async (tx) => await enqueue(tx, followRequestWork, { merge_request_id }, options));
};

/**
 * A new merge request gets a pipeline of its first version, in the name of its author. Those of later versions come
 * with their pushes.
 */
export const followRequest = async (platform: Platform, mergeRequestId: number): Promise<void> => {
  const { db } = platform.store;
  const row = await newRequest(db, mergeRequestId);
  const found = row === null ? null : await loadRequest(db, row);
  if (row === null || found === null) return;
  await createForRequest(platform, found, { user_id: row.author_id, since: row.created_at });
};
