/** Forks projects: creates a project and copies the repository into it. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { may } from '../../../core/access/may.ts';
import type { Visibility } from '../../../platform/db/schema/column_types.ts';
import { Failure, notFound } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { isWider } from '../../../identity/groups/rules.ts';
import type { Namespace } from '../../../identity/namespaces/claim_path.ts';
import { selectNamespaceId } from '../../../identity/namespaces/redirects.ts';
import { type NewProject, createProject, mayCreateIn } from '../../../projects/projects/create.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { removeProject } from '../../../projects/projects/removal/remove.ts';
import { visibilityIn } from '../../../projects/projects/rules.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { enqueueCodeIndex } from '../../../projects/projects/enqueue_code_index.ts';
import { adoptDefaultBranch } from '../branches/adopt_default_branch.ts';
import { getForkNetwork } from './fork_relation.ts';
import { getRepository } from '../get_repository.ts';
import { holdRepository } from '../moves/hold_repository.ts';
import { branchPrefix, tagPrefix } from '../refs/resolve.ts';

/** Background work that completes a fork after its process died. */
export const forkWork = 'repository.fork';
/** Milliseconds after which an incomplete fork counts as interrupted. */
const retryDelay = 10 * 60_000;

const workKey = (forkId: number): string => `${forkWork}:${forkId}`;

export type ForkRequest = {
  /** Id or full path of a namespace; default: the caller's own. */
  namespace?: number | string | undefined;
  name?: string | undefined;
  path?: string | undefined;
  description?: string | null | undefined;
  visibility?: Visibility | undefined;
};

const noTarget = (): Failure => notFound('Target Namespace');

const findTarget = async (call: Call, requested: number | string | undefined): Promise<Namespace> => {
  const user = requireUser(call);
  const query = call.db.selectFrom('namespaces').selectAll().where('deleted_at', 'is', null);
  const namespace = await (
    requested === undefined
      ? query.where('owner_id', '=', user.id).where('kind', '=', 'user')
      : query.where('id', '=', selectNamespaceId(requested))
  ).executeTakeFirst();
  if (namespace === undefined || !mayCreateIn(call, user, namespace)) throw noTarget();
  return namespace;
};

/** Limits the visibility of a fork to the visibility of its source. */
const chooseVisibility = (
  source: Project,
  target: Namespace,
  requested: Visibility | undefined,
): Visibility => {
  const maxVisibility = visibilityIn(target, source.visibility);
  return requested === undefined || isWider(requested, maxVisibility) ? maxVisibility : requested;
};

/** Converts the error for a taken name to 409. */
const asConflict = (error: unknown): unknown => {
  if (!(error instanceof Failure) || error.kind !== 'bad_request') return error;
  const { message } = (error.body ?? {}) as { message?: { [name: string]: string[] } };
  const isTaken = Object.values(message ?? {})
    .flat()
    .includes('has already been taken');
  return isTaken ? new Failure('conflict', { message }) : error;
};

/**
 * Copies the repository and completes the fork. Idempotent.
 * @throws Failure 503 if the fork's repository moves to another storage meanwhile
 */
const copyRepository = async (platform: Platform, source: Project, forkId: number): Promise<void> => {
  const { default_branch: branch } = source;
  const fork = await loadProject(platform.store.db, forkId);
  if (branch === null || fork === null) return;
  const { path, written } = getRepository(platform, source);
  try {
    await getRepository(platform, fork).ask('repository.fork', {
      source: path,
      source_written: written,
      refs: [branchPrefix, tagPrefix],
    });
  } catch (error) {
    // The copy exists already: a process died before it completed the fork.
    if (!isGitFailure(error, 'conflict')) throw error;
  }
  await platform.store.write(async (tx) => {
    // A move that copied it while it was empty must not make that copy the authoritative one.
    await holdRepository(tx, fork);
    await adoptDefaultBranch(tx, platform, forkId, branch);
    await enqueueCodeIndex(tx, forkId);
    await tx.db.deleteFrom('work').where('unique_key', '=', workKey(forkId)).execute();
  });
};

/** Returns whether the fork's creator may still fork the source: access may have been revoked since. */
const mayStillFork = async (
  { store: { db }, clock }: Platform,
  source: Project,
  { creator_id, visibility }: Project,
): Promise<boolean> => {
  if (creator_id === null || isWider(visibility, source.visibility)) return false;
  const viewer = await loadActingViewer(db, creator_id, clock.now());
  return viewer !== null && may(viewer, 'fork_project', source);
};

/** Completes a fork that a dead process left incomplete. */
export const finishFork = async (platform: Platform, forkId: number): Promise<void> => {
  const { db } = platform.store;
  const fork = await loadProject(db, forkId);
  if (fork === null || fork.default_branch !== null || fork.forked_from_project_id === null) return;
  const source = await loadProject(db, fork.forked_from_project_id);
  if (source !== null && (await mayStillFork(platform, source, fork))) {
    await copyRepository(platform, source, forkId);
  }
};

const createFork = async (call: Call, source: Project, request: ForkRequest): Promise<number> => {
  const target = await findTarget(call, request.namespace);
  const columns: NewProject = {
    name: request.name === undefined || request.name === '' ? source.name : request.name,
    path: request.path === undefined || request.path === '' ? source.path : request.path,
    description: request.description === undefined ? source.description : request.description,
    visibility: chooseVisibility(source, target, request.visibility),
    merge_method: source.merge_method,
    squash_option: source.squash_option,
    forked_from_project_id: source.id,
    fork_network_id: getForkNetwork(source),
    // Uses the same storage, so that both repositories share objects.
    repository_storage: source.repository_storage,
  };
  try {
    return await createProject(call, requireUser(call), target.id, columns);
  } catch (error) {
    throw asConflict(error);
  }
};

/**
 * Forks a project. Returns the id of the fork once it is complete and durable.
 * @throws Failure 404 for a namespace that is missing, hidden or not writable, 409 for a taken name
 */
export const forkProject = async (call: Call, source: Project, request: ForkRequest): Promise<number> => {
  const { platform } = call;
  const id = await createFork(call, source, request);
  await call.write(async (tx) => {
    const later = { unique_key: workKey(id), run_at: tx.now + retryDelay };
    if (source.default_branch !== null) await enqueue(tx, forkWork, { project_id: id }, later);
    await recordEvent(tx, requireActor(call), {
      kind: 'project.forked',
      project_id: source.id,
      target_type: 'Project',
      target_id: id,
    });
  });
  try {
    await copyRepository(platform, source, id);
  } catch (error) {
    const created = await loadProject(call.db, id);
    if (created !== null) await removeProject(call, created);
    throw error;
  }
  return id;
};
