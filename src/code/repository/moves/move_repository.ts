/**
 * Moves a repository to another storage: copies it, makes it read-only, copies the rest, compares, and switches in one
 * transaction. Each step may be repeated. The storage that the project names has the authoritative copy at all times.
 */
import type { Selectable } from 'kysely';
import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../../../core/platform.ts';
import type { RepositoryMovesTable } from '../../../platform/db/schema/code.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { unavailable } from '../../../platform/errors.ts';
import { getRepositoryPath } from '../../../platform/git/storages.ts';
import type { Repository } from '../../../platform/git/repository.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import { type Payload, enqueue } from '../../../platform/queue/enqueue.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { getRepository } from '../get_repository.ts';
import { checkObjects, compareRefs, copyLateRefs, copyRepository } from './copy_repository.ts';

/** Work that removes a copy of a repository which no project names any more. */
export const removeCopyWork = 'repository.remove_copy';

/** Milliseconds after the switch before the old copy is removed: fetches that began before read it. */
const removalDelay = 10 * 60_000;
/** Milliseconds to wait for changes of refs that had begun. */
const maxDrain = 30_000;
const maxAttempts = 8;

type Move = Selectable<RepositoryMovesTable>;

const loadMove = async ({ store }: Platform, id: number): Promise<Move | null> =>
  (await store.db.selectFrom('repository_moves').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;

/** Place of a copy; also the payload of `removeCopyWork`. */
type Copy = { storage: string; path: string };
type Side = 'source' | 'destination';

const toCopy = (move: Move, side: Side): Copy => ({
  storage: move[`${side}_storage`],
  path: move[`${side}_path`],
});

/** @param written the repository must exist */
const openCopy = ({ git }: Platform, { storage, path }: Copy, written = false): Repository =>
  git.repository({
    id: 0,
    repository_storage: storage,
    repository_path: path,
    repository_written: toFlag(written),
  });

/** Enqueues the removal of a repository that no project references any more, and whose objects are not needed. */
export const enqueueCopyRemoval = async (tx: Tx, copy: Copy): Promise<void> =>
  await enqueue(
    tx,
    removeCopyWork,
    { project_id: 0, ...copy },
    { unique_key: `${removeCopyWork} ${copy.path}` },
  );

const enqueueRemoval = async (tx: Tx, move: Move, side: Side, run_at: number): Promise<void> => {
  const payload = { project_id: move.project_id, ...toCopy(move, side) };
  await enqueue(tx, removeCopyWork, payload, { unique_key: `${removeCopyWork} ${move.id}`, run_at });
};

/** Counts the attempt. */
const begin = async ({ store }: Platform, { id, attempts }: Move): Promise<void> =>
  await store.write(async ({ db, now }) => {
    const changes = { state: 'started', attempts: attempts + 1, updated_at: now } as const;
    await db.updateTable('repository_moves').set(changes).where('id', '=', id).execute();
  });

const setReadOnly = async ({ store }: Platform, { project_id }: Move, isReadOnly: boolean): Promise<void> =>
  await store.write(async ({ db, dialect }) => {
    // Waits for transactions that begin a change of refs (`holdRepository`), so that `drain` sees their operations.
    await db
      .selectFrom('projects')
      .select('id')
      .where('id', '=', project_id)
      .modifyEnd(dialect.forExclusive)
      .execute();
    await db
      .updateTable('projects')
      .set({ repository_moving: toFlag(isReadOnly) })
      .where('id', '=', project_id)
      .execute();
  });

/** Waits until no change of refs is in progress. New changes are already refused. */
const drain = async ({ store, clock }: Platform, { project_id }: Move): Promise<void> => {
  const end = clock.now() + maxDrain;
  for (;;) {
    const row = await store.db
      .selectFrom('git_operations')
      .select('id')
      .where('project_id', '=', project_id)
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return;
    if (clock.now() > end) throw new Error('changes of the repository take too long');
    await wait(50);
  }
};

/** Makes the copy the authoritative one. Returns false if the project is gone or was moved by something else. */
const switchStorage = async ({ store }: Platform, move: Move): Promise<boolean> =>
  await store.write(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('projects')
      .set({
        repository_storage: move.destination_storage,
        repository_path: move.destination_path,
        repository_moving: 0,
      })
      .where('id', '=', move.project_id)
      .where('repository_storage', '=', move.source_storage)
      // An import may have given the project another place meanwhile; null: its first one.
      .where((is) => is.or([is('repository_path', 'is', null), is('repository_path', '=', move.source_path)]))
      .where('repository_moving', '=', 1)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    const done = { state: 'finished', error: null, updated_at: tx.now } as const;
    await tx.db.updateTable('repository_moves').set(done).where('id', '=', move.id).execute();
    await enqueueRemoval(tx, move, 'source', tx.now + removalDelay);
    return true;
  });

/** Ends a move without success: the repository takes changes again, and what was copied is removed. */
const fail = async (platform: Platform, move: Move, why: string): Promise<void> => {
  await platform.store.write(async (tx) => {
    const failed = { state: 'failed', error: why.slice(0, 1000), updated_at: tx.now } as const;
    await tx.db.updateTable('repository_moves').set(failed).where('id', '=', move.id).execute();
    await tx.db
      .updateTable('projects')
      .set({ repository_moving: 0 })
      .where('id', '=', move.project_id)
      .execute();
    await enqueueRemoval(tx, move, 'destination', tx.now);
  });
};

const copy = async (platform: Platform, move: Move, written: boolean): Promise<void> => {
  const from = openCopy(platform, toCopy(move, 'source'), written);
  const into = openCopy(platform, toCopy(move, 'destination'));
  await copyRepository(from, into);
  publishReached('repository.copied');
  await setReadOnly(platform, move, true);
  publishReached('repository.read_only');
  await drain(platform, move);
  await copyRepository(from, into);
  await checkObjects(into);
  // The check may take minutes, in which the service writes internal refs.
  await copyRepository(from, into);
  await compareRefs(from, into);
  publishReached('repository.verified');
  if (!(await switchStorage(platform, move)))
    throw new Error('the project was removed, or its repository replaced meanwhile');
  publishReached('repository.switched');
};

const noteFailure = async (platform: Platform, move: Move, error: unknown): Promise<void> => {
  const why = (error as Error).message.slice(0, 1000);
  if (move.attempts + 1 >= maxAttempts) return await fail(platform, move, why);
  // An earlier attempt may have made it read-only, and died.
  await setReadOnly(platform, move, false);
  await platform.store.write(async ({ db }) => {
    await db.updateTable('repository_moves').set({ error: why }).where('id', '=', move.id).execute();
  });
  throw error;
};

/**
 * Removes a copy, unless the project references it. First copies late writes of processes that had loaded the project
 * before the switch.
 */
export const removeCopy = async (platform: Platform, payload: Payload): Promise<void> => {
  const copy = { storage: String(payload['storage']), path: String(payload['path']) };
  const project = await loadProject(platform.store.db, Number(payload['project_id']));
  const repository = openCopy(platform, copy);
  if (project !== null) {
    if (getRepositoryPath(project) === copy.path && project.repository_storage === copy.storage) return;
    if (project.repository_moving === 1)
      throw new Error('the repository moves again', { cause: unavailable() });
    await copyLateRefs(repository, getRepository(platform, project));
  }
  await repository.ask('repository.remove', {});
};

/** Carries out a move. Runs again after a failure, and after the process died. */
export const moveRepository = async (platform: Platform, payload: Payload): Promise<void> => {
  const move = await loadMove(platform, Number(payload['move_id']));
  if (move === null) return await removeCopy(platform, { ...payload, project_id: 0 });
  if (move.state === 'finished' || move.state === 'failed') return;
  const project = await loadProject(platform.store.db, move.project_id);
  if (project === null) return await fail(platform, move, 'the project was removed');
  if (project.repository_storage !== move.source_storage || getRepositoryPath(project) !== move.source_path)
    return await fail(platform, move, 'the repository was replaced after the move was scheduled');
  if (move.attempts >= maxAttempts)
    return await fail(platform, move, move.error ?? 'the process ended at each attempt');
  await begin(platform, move);
  try {
    await copy(platform, move, project.repository_written === 1);
  } catch (error) {
    await noteFailure(platform, move, error);
  }
};
