/** `refs/pipelines/<id>` keeps the commit of a pipeline while its jobs fetch it, whatever is pushed meanwhile. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { keep } from '../db/kept.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import type { Repository } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { findRef } from '../repository/resolve.ts';

type Kept = { id: number; project_id: number };

export const pipelineRefOf = (id: number): string => `refs/pipelines/${id}`;

const livingProject = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('projects')
    .select(['id', 'repository_storage'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .compile(),
);

const repositoryOfProject = async (platform: Platform, id: number): Promise<Repository | null> => {
  const [project] = await livingProject(platform.store.db, { id });
  return project === undefined ? null : repositoryOf(platform, project);
};

const ensureIn = async (repository: Repository, id: number, sha: string): Promise<void> => {
  const ref = pipelineRefOf(id);
  if ((await findRef(repository, ref)) !== null) return;
  try {
    await repository.ask('refs.update', { updates: [{ ref, old: null, new: sha }] });
  } catch (error) {
    if (!isGitFailure(error, 'invalid') && !isGitFailure(error, 'missing')) throw error;
  }
};

/** May be done twice, and side by side. A commit that is gone keeps no ref. */
export const ensurePipelineRef = async (
  platform: Platform,
  { id, project_id, sha }: Kept & { sha: string },
): Promise<void> => {
  const repository = await repositoryOfProject(platform, project_id);
  if (repository !== null) await ensureIn(repository, id, sha);
};

/** Pipelines whose refs were seen to, and when they were changed last: one that has ended since was changed. */
const ensured = keep<number, { updated_at: number; done: Promise<void> }>(1_000);

/** As `ensurePipelineRef`, for each of many jobs: the repository is asked once, as long as the pipeline goes on. */
export const keepPipelineRef = async (
  { store }: Platform,
  repository: Repository,
  { id, sha, updated_at }: { id: number; sha: string; updated_at: number },
): Promise<void> => {
  const known = ensured.get(store.db, id);
  const done = known?.updated_at === updated_at ? known.done : ensureIn(repository, id, sha);
  ensured.set(store.db, id, { updated_at, done });
  try {
    await done;
  } catch (error) {
    ensured.drop(store.db, id);
    throw error;
  }
};

/** Once no job of it runs any more. May be done twice. */
export const dropPipelineRef = async (platform: Platform, { id, project_id }: Kept): Promise<void> => {
  ensured.drop(platform.store.db, id);
  const repository = await repositoryOfProject(platform, project_id);
  if (repository === null) return;
  const ref = pipelineRefOf(id);
  if ((await findRef(repository, ref)) === null) return;
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: zeroOid }] });
};
