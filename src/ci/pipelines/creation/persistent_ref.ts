/** Keeps a pipeline's commit reachable under `refs/pipelines/<id>` while its jobs fetch it. */
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { immutableRowCache } from '../../../platform/db/immutable_rows.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import { type Repository, repositoryColumns } from '../../../platform/git/repository.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { findRef, loadRefs } from '../../../code/repository/refs/resolve.ts';

type PipelineKey = { id: number; project_id: number };

export const pipelineRefName = (id: number): string => `refs/pipelines/${id}`;

const selectProject = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('projects')
    .select(['projects.id', ...repositoryColumns])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .compile(),
);

const openProjectRepository = async (platform: Platform, id: number): Promise<Repository | null> => {
  const [project] = await selectProject(platform.store.db, { id });
  return project === undefined ? null : getRepository(platform, project);
};

const createRefIfMissing = async (repository: Repository, id: number, sha: string): Promise<void> => {
  const ref = pipelineRefName(id);
  if ((await findRef(repository, ref)) !== null) return;
  try {
    await repository.ask('refs.update', { updates: [{ ref, old: null, new: sha }] });
  } catch (error) {
    if (!isGitFailure(error, 'invalid') && !isGitFailure(error, 'missing')) throw error;
  }
};

/** Creates the ref if it is missing. Idempotent and safe to run concurrently. Does nothing if the commit is gone. */
export const ensurePipelineRef = async (
  platform: Platform,
  { id, project_id, sha }: PipelineKey & { sha: string },
): Promise<void> => {
  const repository = await openProjectRepository(platform, project_id);
  if (repository !== null) await createRefIfMissing(repository, id, sha);
};

/** Pipelines whose refs exist, with their `updated_at` at that time. A pipeline that has ended since has a newer one. */
const ensured = immutableRowCache<number, { updated_at: number; done: Promise<void> }>(1_000);

/** Creates the ref of a new pipeline and caches that it exists. */
export const createPipelineRef = async (
  platform: Platform,
  pipeline: PipelineKey & { sha: string; updated_at: number },
): Promise<void> => {
  await ensurePipelineRef(platform, pipeline);
  const { id, updated_at } = pipeline;
  ensured.set(platform.store.db, id, { updated_at, done: Promise.resolve() });
};

/** Pending pipelines whose refs are checked ahead of their jobs. */
const maxPreloaded = 50;

const selectNextPending = compiled((db, { project_id, id }: { project_id: number; id: number }) =>
  db
    .selectFrom('pipelines')
    .select(['id', 'updated_at'])
    .where('project_id', '=', project_id)
    .where('status', '=', 'pending')
    .where('id', '>', id)
    .orderBy('id')
    .limit(maxPreloaded)
    .compile(),
);

/**
 * Checks the refs of the next pending pipelines in one call and caches the existing refs. They may have been created by
 * another process or before a restart.
 */
const preloadNext = async ({ store }: Platform, repository: Repository, from: PipelineKey): Promise<void> => {
  const next = await selectNextPending(store.db, from);
  const refs = await loadRefs(
    repository,
    next.map(({ id }) => pipelineRefName(id)),
  );
  for (const [at, { id, updated_at }] of next.entries())
    if (refs[at] !== null && ensured.get(store.db, id) === undefined)
      ensured.set(store.db, id, { updated_at, done: Promise.resolve() });
};

const ensureAndPreload = async (
  platform: Platform,
  repository: Repository,
  pipeline: PipelineKey & { sha: string },
): Promise<void> => {
  await createRefIfMissing(repository, pipeline.id, pipeline.sha);
  // Not awaited: a ref that is not cached here is checked when its job starts.
  preloadNext(platform, repository, pipeline).catch(() => undefined);
};

type ActivePipeline = PipelineKey & { sha: string; updated_at: number };

/**
 * Ensures the ref, calling the repository once per active pipeline rather than once per job.
 * @param was the pipeline's `updated_at` before the job was assigned
 */
export const ensurePipelineRefCached = async (
  platform: Platform,
  repository: Repository,
  pipeline: ActivePipeline,
  was: number,
): Promise<void> => {
  const { db } = platform.store;
  const { id, updated_at } = pipeline;
  const cached = ensured.get(db, id);
  const isCached = cached?.updated_at === updated_at || cached?.updated_at === was;
  const done = isCached ? cached.done : ensureAndPreload(platform, repository, pipeline);
  ensured.set(db, id, { updated_at, done });
  try {
    await done;
  } catch (error) {
    ensured.drop(db, id);
    throw error;
  }
};

/** Deletes the ref once no job of the pipeline runs. Idempotent. */
export const dropPipelineRef = async (platform: Platform, { id, project_id }: PipelineKey): Promise<void> => {
  ensured.drop(platform.store.db, id);
  const repository = await openProjectRepository(platform, project_id);
  if (repository === null) return;
  const ref = pipelineRefName(id);
  if ((await findRef(repository, ref)) === null) return;
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: zeroOid }] });
};
