/** Schedules moves of repositories to other storages. Background work carries them out. */
import { type Failure, invalid } from '../../../platform/errors.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import { generateRepositoryPath, getRepositoryPath } from '../../../platform/git/storages.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { type Cause, recordAudit } from '../../../core/access/audit.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';

export const moveWork = 'repository.move';

const noSource = { ip: '', userAgent: '' };

const problem = (text: string): Failure => invalid({ destination_storage_name: [text] });

/** Where a move goes; the caller knows which storages are configured. */
export type Destination = { storages: readonly string[]; named: string | undefined };

/**
 * Chooses the storage: the named storage, or any storage other than the source.
 * @throws Failure 400 if it is unknown or the source, or if there is no other storage
 */
export const chooseDestination = (source: string, { storages, named }: Destination): string => {
  if (named !== undefined && !storages.includes(named)) throw problem('is not included in the list');
  if (named === source) throw problem('cannot be the storage that the repository is in');
  const others = storages.filter((name) => name !== source);
  const chosen = named ?? others[Math.floor(Math.random() * others.length)];
  if (chosen === undefined) throw problem('is missing: there is one storage');
  return chosen;
};

/** Returns whether a move of the project is waiting or running. */
const hasOpenMove = async (db: Reader, projectId: number): Promise<boolean> => {
  const row = await db
    .selectFrom('repository_moves')
    .select('id')
    .where('project_id', '=', projectId)
    .where('state', 'in', ['scheduled', 'started'])
    .executeTakeFirst();
  return row !== undefined;
};

/**
 * Schedules the move of one repository.
 * @returns the id of the move
 * @throws Failure 400 if another move waits or runs, or the destination cannot be
 */
export const scheduleMove = async (
  tx: Tx,
  cause: Cause | null,
  project: RepositoryLocation,
  destination: Destination,
): Promise<number> => {
  if (await hasOpenMove(tx.db, project.id))
    throw invalid({ project: ['is being moved to another storage already'] });
  const destination_storage = chooseDestination(project.repository_storage, destination);
  const destination_path = generateRepositoryPath();
  const id = await insertRow(tx.db, 'repository_moves', {
    project_id: project.id,
    user_id: cause?.user.id ?? null,
    state: 'scheduled',
    source_storage: project.repository_storage,
    source_path: getRepositoryPath(project),
    destination_storage,
    destination_path,
    error: null,
    created_at: tx.now,
    updated_at: tx.now,
  });
  const copy = { storage: destination_storage, path: destination_path };
  await enqueue(tx, moveWork, { move_id: id, ...copy }, { unique_key: `${moveWork} ${id}` });
  await recordAudit(tx, cause, cause?.source ?? noSource, {
    kind: 'project.storage_move',
    target_type: 'Project',
    target_id: project.id,
    details: { from: project.repository_storage, to: destination_storage },
  });
  return id;
};

/** Projects of one page of `scheduleAll`. */
const pageSize = 100;

/** Work that schedules the moves of all repositories of a storage. */
export const moveAllWork = 'repository.move_all';

export const enqueueMoveAll = async (tx: Tx, source: string, destination: string | null): Promise<void> =>
  await enqueue(
    tx,
    moveAllWork,
    { source, destination, after: 0 },
    { unique_key: `${moveAllWork} ${source}` },
  );

/**
 * Schedules the moves of the next projects of a storage.
 * @returns the id after which to continue; null if there are no more
 */
export const schedulePage = async (
  tx: Tx,
  { source, after, ...destination }: Destination & { source: string; after: number },
): Promise<number | null> => {
  const rows = await tx.db
    .selectFrom('projects')
    .select(['id', 'repository_storage', 'repository_path', 'repository_written'])
    .where('repository_storage', '=', source)
    .where('deleted_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(pageSize)
    .execute();
  for (const row of rows)
    if (!(await hasOpenMove(tx.db, row.id))) await scheduleMove(tx, null, row, destination);
  return rows.length < pageSize ? null : (rows.at(-1)?.id ?? null);
};
