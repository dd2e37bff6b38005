/** Recovers ref operations that dead processes left incomplete. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { processName } from '../../../platform/db/process_name.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import {
  type Repository,
  type RepositoryLocation,
  repositoryColumns,
} from '../../../platform/git/repository.ts';
import { type RefUpdate, zeroOid } from '../../../platform/git/protocol_types.ts';
import { hourMilliseconds } from '../../../platform/time.ts';
import { getRepository } from '../get_repository.ts';
import { type Completions, dropped, finishOperation, getUnrecorded, toOperation } from './operations.ts';
import type { Operation } from './operation_types.ts';

/** Milliseconds after which an operation of a live process counts as abandoned. */
const abandonedAfter = 60_000;
/** Milliseconds that a live process may lack a connection to PostgreSQL. */
const grace = 3_000;
/** Milliseconds for which a dropped row is kept. */
const keepDropped = hourMilliseconds;
const batchSize = 100;

/** Returns whether git has made this update: the ref has the new value, or descends from it. */
const wasMade = async (repository: Repository, { ref, old, new: target }: RefUpdate): Promise<boolean> => {
  const { refs } = await repository.ask('refs.get', { names: [ref] });
  const now = refs[0]?.target ?? zeroOid;
  if (now === target) return true;
  if (now === old || now === zeroOid || target === zeroOid) return false;
  try {
    return (await repository.ask('commits.is_ancestor', { ancestor: target, descendant: now })).is;
  } catch (error) {
    // The objects of an interrupted push are still in quarantine.
    if (isGitFailure(error, 'missing')) return false;
    throw error;
  }
};

const markDropped = async ({ store }: Platform, { id }: Operation): Promise<void> => {
  await store.write(
    async ({ db }) =>
      await db.updateTable('git_operations').set({ process: dropped }).where('id', '=', id).execute(),
  );
  getUnrecorded(store).delete(id);
};

const settleOperation = async (
  platform: Platform,
  operation: Operation,
  { place: location, completions }: { place: RepositoryLocation; completions: Completions },
): Promise<void> => {
  const repository = getRepository(platform, location);
  const made = await Promise.all(operation.updates.map((update) => wasMade(repository, update)));
  const done = operation.updates.filter((_update, index) => made[index]);
  if (done.length === 0) return await markDropped(platform, operation);
  const complete = completions[operation.kind];
  await finishOperation(platform, { operation, done, ...(complete !== undefined && { complete }) });
};

const loadAbandoned = async (
  { store, clock }: Platform,
  ended: string | null,
  unrecorded: readonly number[],
) => {
  const { engine, lives } = store.dialect;
  const now = clock.now();
  const isOwn = sql<boolean>`git_operations.process = ${processName}`;
  const isUnrecorded =
    unrecorded.length === 0
      ? sql<boolean>`1 = 0`
      : sql<boolean>`git_operations.id in (${sql.join(unrecorded)})`;
  const since = engine === 'sqlite' ? now + 1 : now - grace;
  const isGone = sql<boolean>`not ${lives('git_operations.process')}
    and (git_operations.created_at < ${since} or git_operations.process = ${ended})`;
  return await store.db
    .selectFrom('git_operations')
    .innerJoin('projects', 'projects.id', 'git_operations.project_id')
    .selectAll('git_operations')
    .select(repositoryColumns)
    .where('git_operations.process', '<>', dropped)
    .where(
      sql<boolean>`((${isOwn} and (git_operations.created_at < ${now - abandonedAfter} or ${isUnrecorded})) or (${isGone}))`,
    )
    .orderBy('git_operations.id')
    .limit(batchSize)
    .execute();
};

const forgetDropped = async ({ store, clock }: Platform): Promise<void> => {
  const old = await store.db
    .selectFrom('git_operations')
    .select('id')
    .where('process', '=', dropped)
    .where('created_at', '<', clock.now() - keepDropped)
    .limit(batchSize)
    .execute();
  if (old.length === 0) return;
  const ids = old.map(({ id }) => id);
  await store.write(async ({ db }) => await db.deleteFrom('git_operations').where('id', 'in', ids).execute());
};

/**
 * Completes or drops abandoned operations: operations of dead processes, and operations whose storage or database did
 * not answer. Runs at start, before requests are served, and then periodically. Safe to run in several processes at
 * once.
 */
const recoverOperations = async (
  platform: Platform,
  completions: Completions,
  ended: string | null,
): Promise<void> => {
  const unrecorded = [...getUnrecorded(platform.store)];
  const rows = await loadAbandoned(platform, ended, unrecorded);
  const settled = unrecorded.filter((one) => !rows.some((row) => row.id === one));
  // A full batch may leave some for the next one.
  if (rows.length < batchSize) for (const id of settled) getUnrecorded(platform.store).delete(id);
  for (const row of rows) {
    const operation = toOperation(row);
    try {
      await settleOperation(platform, operation, { place: { ...row, id: row.project_id }, completions });
    } catch (error) {
      platform.log.warn({ err: error, operation: operation.id }, 'failed to recover a ref operation');
    }
  }
  await forgetDropped(platform);
};

/** Milliseconds between two runs. */
const interval = 10_000;

/**
 * Recovers once, then periodically until the returned function is called.
 * @param ended name of a process that is known to have ended, or null
 */
export const startRecovery = async (
  platform: Platform,
  completions: Completions,
  ended: string | null = null,
): Promise<() => Promise<void>> => {
  await recoverOperations(platform, completions, ended);
  let running = Promise.resolve();
  const again = (): void => {
    running = recoverOperations(platform, completions, ended).catch((error: unknown) =>
      platform.log.warn({ err: error }, 'failed to look for abandoned ref operations'),
    );
  };
  const timer = setInterval(again, interval).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
};
