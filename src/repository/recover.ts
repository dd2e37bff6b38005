/** Ends what a process began with git and did not live to complete. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { processName } from '../db/process.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Repository, type RepositoryPlace, placeColumns } from '../git/repository.ts';
import { type RefUpdate, zeroOid } from '../git/protocol_types.ts';
import { repositoryOf } from './open.ts';
import { type Completions, type Operation, dropped, finishOperation, operationOf } from './operations.ts';

/** Milliseconds after which nobody is at work on a row of a process that lives. */
const longest = 60_000;
/** Milliseconds that a process may be without a connection to PostgreSQL and yet live. */
const grace = 3_000;
/** Milliseconds that a dropped row is kept. */
const keepDropped = 3_600_000;
const round = 100;

/** Whether git has made this update: the ref is there, or its history has what it was moved to. */
const wasMade = async (repository: Repository, { ref, old, new: wanted }: RefUpdate): Promise<boolean> => {
  const { refs } = await repository.ask('refs.get', { names: [ref] });
  const now = refs[0]?.target ?? zeroOid;
  if (now === wanted) return true;
  if (now === old || now === zeroOid || wanted === zeroOid) return false;
  try {
    return (await repository.ask('commits.is_ancestor', { ancestor: wanted, descendant: now })).is;
  } catch (error) {
    // A push that died left its objects in quarantine.
    if (isGitFailure(error, 'missing')) return false;
    throw error;
  }
};

const drop = async ({ store }: Platform, { id }: Operation): Promise<void> => {
  await store.write(
    async ({ db }) =>
      await db.updateTable('git_operations').set({ process: dropped }).where('id', '=', id).execute(),
  );
};

const settle = async (
  platform: Platform,
  operation: Operation,
  { place, completions }: { place: RepositoryPlace; completions: Completions },
): Promise<void> => {
  const repository = repositoryOf(platform, place);
  const made = await Promise.all(operation.updates.map((update) => wasMade(repository, update)));
  const done = operation.updates.filter((_update, index) => made[index]);
  if (done.length === 0) return await drop(platform, operation);
  const complete = completions[operation.kind];
  await finishOperation(platform, { operation, done, ...(complete !== undefined && { complete }) });
};

const leftOver = async ({ store, clock }: Platform, ended: string | null) => {
  const { engine, lives } = store.words;
  const now = clock.now();
  const isOwn = sql<boolean>`git_operations.process = ${processName}`;
  const since = engine === 'sqlite' ? now + 1 : now - grace;
  const isGone = sql<boolean>`not ${lives('git_operations.process')}
    and (git_operations.created_at < ${since} or git_operations.process = ${ended})`;
  return await store.db
    .selectFrom('git_operations')
    .innerJoin('projects', 'projects.id', 'git_operations.project_id')
    .selectAll('git_operations')
    .select(placeColumns)
    .where('git_operations.process', '<>', dropped)
    .where(sql<boolean>`((${isOwn} and git_operations.created_at < ${now - longest}) or (${isGone}))`)
    .orderBy('git_operations.id')
    .limit(round)
    .execute();
};

const forgetDropped = async ({ store, clock }: Platform): Promise<void> => {
  const old = await store.db
    .selectFrom('git_operations')
    .select('id')
    .where('process', '=', dropped)
    .where('created_at', '<', clock.now() - keepDropped)
    .limit(round)
    .execute();
  if (old.length === 0) return;
  const ids = old.map(({ id }) => id);
  await store.write(async ({ db }) => await db.deleteFrom('git_operations').where('id', 'in', ids).execute());
};

/**
 * Completes or drops the operations that nobody is at work on: of processes that are gone, and such as the storage
 * did not answer for. Called at start, before anything is served, and regularly. May run in several processes at once.
 */
const recoverOperations = async (
  platform: Platform,
  completions: Completions,
  ended: string | null,
): Promise<void> => {
  for (const row of await leftOver(platform, ended)) {
    const operation = operationOf(row);
    try {
      // oxlint-disable-next-line no-await-in-loop -- in their order, one after another
      await settle(platform, operation, { place: { ...row, id: row.project_id }, completions });
    } catch (error) {
      platform.log.warn({ err: error, operation: operation.id }, 'an operation on refs was not settled');
    }
  }
  await forgetDropped(platform);
};

/** Milliseconds between two looks. */
const pause = 10_000;

/**
 * Recovers once, and then regularly until it is stopped.
 * @param ended the name of a process that is known to have ended, or null
 */
export const keepRecovering = async (
  platform: Platform,
  completions: Completions,
  ended: string | null = null,
): Promise<() => Promise<void>> => {
  await recoverOperations(platform, completions, ended);
  let running = Promise.resolve();
  const again = (): void => {
    running = recoverOperations(platform, completions, ended).catch((error: unknown) =>
      platform.log.warn({ err: error }, 'operations on refs were not looked for'),
    );
  };
  const timer = setInterval(again, pause).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
};
