/** `refs/pipelines/<id>` keeps the commit of a pipeline while its jobs fetch it, whatever is pushed meanwhile. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import { keep } from '../db/kept.ts';
import { isGitFailure } from '../git/failure.ts';
import { zeroOid } from '../git/protocol_types.ts';
import { type Repository, placeColumns } from '../git/repository.ts';
import { repositoryOf } from '../repository/open.ts';
import { findRef, refsNamed } from '../repository/resolve.ts';

type Kept = { id: number; project_id: number };

export const pipelineRefOf = (id: number): string => `refs/pipelines/${id}`;

const livingProject = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('projects')
    .select(['projects.id', ...placeColumns])
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

/** Of pipelines whose refs were seen to: when they were changed last then. One that has ended since was changed. */
const ensured = keep<number, { updated_at: number; done: Promise<void> }>(1_000);

/** As `ensurePipelineRef`, of one that was just made. */
export const ensureNewPipelineRef = async (
  platform: Platform,
  pipeline: Kept & { sha: string; updated_at: number },
): Promise<void> => {
  await ensurePipelineRef(platform, pipeline);
  const { id, updated_at } = pipeline;
  ensured.set(platform.store.db, id, { updated_at, done: Promise.resolve() });
};

/** Pipelines that are looked at ahead of their jobs. */
const ahead = 50;

const pendingNext = compiled((db, { project_id, id }: { project_id: number; id: number }) =>
  db
    .selectFrom('pipelines')
    .select(['id', 'updated_at'])
    .where('project_id', '=', project_id)
    .where('status', '=', 'pending')
    .where('id', '>', id)
    .orderBy('id')
    .limit(ahead)
    .compile(),
);

/** What another process made, or this one before it was started again: those that come next are asked for at once. */
const lookAhead = async ({ store }: Platform, repository: Repository, from: Kept): Promise<void> => {
  const next = await pendingNext(store.db, from);
  const refs = await refsNamed(
    repository,
    next.map(({ id }) => pipelineRefOf(id)),
  );
  for (const [at, { id, updated_at }] of next.entries())
    if (refs[at] !== null && ensured.get(store.db, id) === undefined)
      ensured.set(store.db, id, { updated_at, done: Promise.resolve() });
};

const ensureFirst = async (
  platform: Platform,
  repository: Repository,
  pipeline: Kept & { sha: string },
): Promise<void> => {
  await ensureIn(repository, pipeline.id, pipeline.sha);
  // Nobody waits for it; what it does not find is looked for when it is needed.
  lookAhead(platform, repository, pipeline).catch(() => undefined);
};

type Going = Kept & { sha: string; updated_at: number };

/**
 * As `ensurePipelineRef`, for each of many jobs: the repository is asked once, as long as the pipeline goes on.
 * @param was when it was changed last before the job was given away
 */
export const keepPipelineRef = async (
  platform: Platform,
  repository: Repository,
  pipeline: Going,
  was: number,
): Promise<void> => {
  const { db } = platform.store;
  const { id, updated_at } = pipeline;
  const known = ensured.get(db, id);
  const isKnown = known?.updated_at === updated_at || known?.updated_at === was;
  const done = isKnown ? known.done : ensureFirst(platform, repository, pipeline);
  ensured.set(db, id, { updated_at, done });
  try {
    await done;
  } catch (error) {
    ensured.drop(db, id);
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
