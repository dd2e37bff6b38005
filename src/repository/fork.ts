/** Forks: projects that begin as a copy of another one's repository. */
import { actingViewer } from '../access/acting.ts';
import { type Call, type Platform, actorOf, userOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Visibility } from '../db/schema.ts';
import { Failure, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { isGitFailure } from '../git/failure.ts';
import { isWider } from '../groups/rules.ts';
import type { Namespace } from '../namespaces/claim.ts';
import { namespaceIdOf } from '../namespaces/redirects.ts';
import { type NewProject, createProject, mayCreateIn } from '../projects/create.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { removeProject } from '../projects/remove.ts';
import { visibilityIn } from '../projects/rules.ts';
import { enqueue } from '../queue/queue.ts';
import { takeFirstBranch } from './first_branch.ts';
import { networkOf } from './fork_relation.ts';
import { repositoryOf } from './open.ts';
import { branchPrefix, tagPrefix } from './resolve.ts';

/** The work that ends a fork whose maker's process died. */
export const forkWork = 'repository.fork';
/** Milliseconds after which nobody is at work on it. */
const patience = 10 * 60_000;

const workKey = (forkId: number): string => `${forkWork}:${forkId}`;

export type WantedFork = {
  /** Id or full path of a namespace; default: the own one. */
  namespace?: number | string | undefined;
  name?: string | undefined;
  path?: string | undefined;
  description?: string | null | undefined;
  visibility?: Visibility | undefined;
};

const noTarget = (): Failure => notFound('Target Namespace');

const findTarget = async (call: Call, wanted: number | string | undefined): Promise<Namespace> => {
  const user = userOf(call);
  const query = call.db.selectFrom('namespaces').selectAll().where('deleted_at', 'is', null);
  const found = await (
    wanted === undefined
      ? query.where('owner_id', '=', user.id).where('kind', '=', 'user')
      : query.where('id', '=', namespaceIdOf(wanted))
  ).executeTakeFirst();
  if (found === undefined || !mayCreateIn(call, user, found)) throw noTarget();
  return found;
};

/** A fork is seen by nobody who does not see what it was forked from. */
const visibilityOf = (source: Project, target: Namespace, wanted: Visibility | undefined): Visibility => {
  const most = visibilityIn(target, source.visibility);
  return wanted === undefined || isWider(wanted, most) ? most : wanted;
};

/** A taken name is told as 409. */
const asConflict = (error: unknown): unknown => {
  if (!(error instanceof Failure) || error.kind !== 'bad_request') return error;
  const { message } = (error.body ?? {}) as { message?: { [name: string]: string[] } };
  const isTaken = Object.values(message ?? {})
    .flat()
    .includes('has already been taken');
  return isTaken ? new Failure('conflict', { message }) : error;
};

/** Copies the repository and completes the fork. May be done twice: the second finds nothing to do. */
const copyRepository = async (platform: Platform, source: Project, forkId: number): Promise<void> => {
  const { default_branch: branch } = source;
  const fork = await loadProject(platform.store.db, forkId);
  if (branch === null || fork === null) return;
  const { path, written } = repositoryOf(platform, source);
  try {
    await repositoryOf(platform, fork).ask('repository.fork', {
      source: path,
      source_written: written,
      refs: [branchPrefix, tagPrefix],
    });
  } catch (error) {
    // There already: made by one who did not live to complete it.
    if (!isGitFailure(error, 'conflict')) throw error;
  }
  await platform.store.write(async (tx) => {
    await takeFirstBranch(tx, platform, forkId, branch);
    await tx.db.deleteFrom('work').where('unique_key', '=', workKey(forkId)).execute();
  });
};

/** Whether one who began a fork could still begin it so: he may have lost sight of the source since. */
const mayStillFork = async (
  { store: { db }, clock }: Platform,
  source: Project,
  { creator_id, visibility }: Project,
): Promise<boolean> => {
  if (creator_id === null || isWider(visibility, source.visibility)) return false;
  const viewer = await actingViewer(db, creator_id, clock.now());
  return viewer !== null && may(viewer, 'fork_project', source);
};

/** Ends a fork that somebody began and did not live to end. */
export const finishFork = async (platform: Platform, forkId: number): Promise<void> => {
  const { db } = platform.store;
  const fork = await loadProject(db, forkId);
  if (fork === null || fork.default_branch !== null || fork.forked_from_project_id === null) return;
  const source = await loadProject(db, fork.forked_from_project_id);
  if (source !== null && (await mayStillFork(platform, source, fork))) {
    await copyRepository(platform, source, forkId);
  }
};

const createFork = async (call: Call, source: Project, wanted: WantedFork): Promise<number> => {
  const target = await findTarget(call, wanted.namespace);
  const columns: NewProject = {
    name: wanted.name === undefined || wanted.name === '' ? source.name : wanted.name,
    path: wanted.path === undefined || wanted.path === '' ? source.path : wanted.path,
    description: wanted.description === undefined ? source.description : wanted.description,
    visibility: visibilityOf(source, target, wanted.visibility),
    merge_method: source.merge_method,
    squash_option: source.squash_option,
    forked_from_project_id: source.id,
    fork_network_id: networkOf(source),
    // Beside it, so that the two share what they have in common.
    repository_storage: source.repository_storage,
  };
  try {
    return await createProject(call, userOf(call), target.id, columns);
  } catch (error) {
    throw asConflict(error);
  }
};

/**
 * Forks a project; answers the id of the new one once it is whole and durable.
 * @throws Failure 404 for a namespace that is missing, hidden or not open to the caller, 409 for a taken name
 */
export const forkProject = async (call: Call, source: Project, wanted: WantedFork): Promise<number> => {
  const { platform } = call;
  const id = await createFork(call, source, wanted);
  await call.write(async (tx) => {
    const later = { unique_key: workKey(id), run_at: tx.now + patience };
    if (source.default_branch !== null) await enqueue(tx, forkWork, { project_id: id }, later);
    await recordEvent(tx, actorOf(call), {
      kind: 'project.forked',
      project_id: source.id,
      target_type: 'Project',
      target_id: id,
    });
  });
  try {
    await copyRepository(platform, source, id);
  } catch (error) {
    const made = await loadProject(call.db, id);
    if (made !== null) await removeProject(call, made);
    throw error;
  }
  return id;
};
