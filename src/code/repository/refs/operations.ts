/**
 * Ref operations keep git and the database consistent. A row records the intended updates, git compares and sets the
 * refs, and one transaction completes the operation and deletes the row. If the process dies in between, recovery reads
 * the row and the refs, then completes or drops the operation. Pushes, commits and merges all use operations.
 */
import type { Selectable } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Store, Tx } from '../../../platform/db/open.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { processName } from '../../../platform/db/process_name.ts';
import type { GitOperationsTable } from '../../../platform/db/schema/code.ts';
import type { Cause } from '../../../core/events/record_event.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import type { RefUpdate } from '../../../platform/git/protocol_types.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { recordActivity, recordRefsMoved } from './refs_moved.ts';
import type { OperationKind, Operation } from './operation_types.ts';

/** Completes an operation in the database, in addition to `recordRefsMoved`. Runs once. */
export type Completion = (tx: Tx, operation: Operation) => Promise<void>;

/** Completions by kind, for operations of dead processes. */
export type Completions = { [kind in OperationKind]?: Completion };

/**
 * Value of `git_operations.process` for an operation that recovery found not done in git. The row is kept for a while,
 * in case its process is alive and still does it.
 */
export const dropped = 'dropped';

/**
 * Ids of operations that nobody works on any more, because the database went away when this process recorded their
 * beginning or their end. Recovery need not wait until they count as abandoned.
 */
export const getUnrecorded = memoizePerStore((_store: Store) => new Set<number>());

type NewOperation = {
  project: Pick<Project, 'id'>;
  cause: Cause | null;
  kind: OperationKind;
  updates: RefUpdate[];
  data?: Record<string, unknown>;
};

type Row = Selectable<GitOperationsTable>;

/** Records an operation. It must be durable before git is called. */
export const beginOperation = async (tx: Tx, operation: NewOperation): Promise<Operation> => {
  const { project, cause, kind, updates, data = {} } = operation;
  const { sudo_by_id = null, source = null } = cause ?? {};
  const id = await insertRow(tx.db, 'git_operations', {
    project_id: project.id,
    user_id: cause?.user.id ?? null,
    kind,
    updates: JSON.stringify(updates),
    data: JSON.stringify({ sudo_by_id, source, data }),
    process: processName,
    created_at: tx.now,
  });
  return { id, project_id: project.id, cause, kind, updates, data, created_at: tx.now };
};

/**
 * Runs the transaction that begins an operation, or refuses it with a text. If the database's answer is lost, the
 * operation may be recorded with nobody working on it, and recovery drops it.
 */
export const writeBeginning = async <Result extends Operation | string[]>(
  store: Store,
  begin: (tx: Tx) => Promise<Result>,
): Promise<Result> => {
  let begun: Operation | string[] = [];
  try {
    return await store.write(async (tx) => {
      const result = await begin(tx);
      begun = result;
      return result;
    });
  } catch (error) {
    const { id } = begun as Partial<Operation>;
    // Otherwise nothing was stored, and another operation may get the id.
    if (id !== undefined && store.isUnreachable(error)) getUnrecorded(store).add(id);
    throw error;
  }
};

export const toOperation = (row: Row): Operation => {
  const { sudo_by_id, source, data } = JSON.parse(row.data) as {
    sudo_by_id: number | null;
    source: Cause['source'] | null;
    data: Record<string, unknown>;
  };
  return {
    id: row.id,
    project_id: row.project_id,
    cause:
      row.user_id === null
        ? null
        : {
            user: { id: row.user_id },
            sudo_by_id,
            ...(source !== null && source !== undefined && { source }),
          },
    kind: row.kind as OperationKind,
    updates: JSON.parse(row.updates) as RefUpdate[],
    data,
    created_at: row.created_at,
  };
};

/** Deletes the row. Returns whether it existed: only the caller that deletes it may complete the operation. */
const deleteRow = async (tx: Tx, { id }: Operation): Promise<boolean> => {
  const row = await tx.db
    .deleteFrom('git_operations')
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
};

/** Renews an operation that is still in progress, so that recovery does not treat it as abandoned. */
export const renewOperation = async ({ store }: Platform, { id }: Operation): Promise<void> => {
  await store.write(async ({ db, now }) => {
    await db.updateTable('git_operations').set({ created_at: now }).where('id', '=', id).execute();
  });
};

/** Records the end of an operation, or leaves that to recovery. */
const recordEnd = async <T>(store: Store, { id }: Operation, end: (tx: Tx) => Promise<T>): Promise<void> => {
  try {
    await store.write(end);
    getUnrecorded(store).delete(id);
  } catch (error) {
    getUnrecorded(store).add(id);
    throw error;
  }
};

/** Deletes an operation that git has not done. */
export const dropOperation = async ({ store }: Platform, operation: Operation): Promise<void> => {
  await recordEnd(store, operation, async (tx) => await deleteRow(tx, operation));
};

/**
 * Completes an operation that git has done. Idempotent.
 * @param done the updates that git has made; default: all
 */
export const finishOperation = async (
  platform: Platform,
  { operation, complete, done }: { operation: Operation; complete?: Completion; done?: RefUpdate[] },
): Promise<void> => {
  const finished = { ...operation, updates: done ?? operation.updates };
  publishReached('refs.moved');
  await recordEnd(platform.store, operation, async (tx) => {
    if (!(await deleteRow(tx, operation))) return;
    await recordRefsMoved(platform, tx, finished);
    await complete?.(tx, finished);
    await recordActivity(tx, finished);
  });
  publishReached('operation.completed');
};
