/**
 * Moving refs, so that git and the database never disagree: a row says what is about to be done, git compares and
 * sets, one transaction completes and takes the row away. Where a process dies in between, the row stays, and whoever
 * finds it looks what git has done: completes it, or drops it. Pushes, commits and merges all go this way.
 */
import type { Selectable } from 'kysely';
import type { Platform } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { processName } from '../db/process.ts';
import type { GitOperationsTable } from '../db/schema_code.ts';
import type { Cause } from '../events/record.ts';
import { reached } from '../git/effects.ts';
import type { RefUpdate } from '../git/protocol_types.ts';
import type { Project } from '../projects/find.ts';
import { refsMoved } from './refs_moved.ts';

export type OperationKind = 'push' | 'commit' | 'branch' | 'merge';

export type Operation = {
  id: number;
  project_id: number;
  cause: Cause | null;
  kind: OperationKind;
  updates: RefUpdate[];
  /** For the one who completes it: plain JSON. */
  data: Record<string, unknown>;
  created_at: number;
};

/** What an operation does in the database beside what every one does (`refsMoved`). Runs once. */
export type Completion = (tx: Tx, operation: Operation) => Promise<void>;

/** By kind, for those that a dead process left. */
export type Completions = { [kind in OperationKind]?: Completion };

/**
 * In `git_operations.process`, of one that its process was thought to be gone with: git had not done it. The row stays
 * for a while, for the case that the process lives, and does it after all.
 */
export const dropped = 'dropped';

type Begun = {
  project: Pick<Project, 'id'>;
  cause: Cause | null;
  kind: OperationKind;
  updates: RefUpdate[];
  data?: Record<string, unknown>;
};

type Row = Selectable<GitOperationsTable>;

/** Writes down what is about to be done: durable before git is asked. */
export const beginOperation = async (tx: Tx, begun: Begun): Promise<Operation> => {
  const { project, cause, kind, updates, data = {} } = begun;
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

export const operationOf = (row: Row): Operation => {
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

/** Takes the row away. @returns whether it was there: who takes it, completes it */
const take = async (tx: Tx, { id }: Operation): Promise<boolean> => {
  const taken = await tx.db
    .deleteFrom('git_operations')
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
};

/** Says that somebody is still at work on it: else it would be taken for left over. */
export const stayOperation = async ({ store }: Platform, { id }: Operation): Promise<void> => {
  await store.write(async ({ db, now }) => {
    await db.updateTable('git_operations').set({ created_at: now }).where('id', '=', id).execute();
  });
};

/** Forgets an operation that git has not done. */
export const dropOperation = async ({ store }: Platform, operation: Operation): Promise<void> => {
  await store.write(async (tx) => await take(tx, operation));
};

/**
 * Completes an operation that git has done. May be called twice: the second finds nothing to do.
 * @param done the updates that git has made; absent: all
 */
export const finishOperation = async (
  platform: Platform,
  { operation, complete, done }: { operation: Operation; complete?: Completion; done?: RefUpdate[] },
): Promise<void> => {
  const finished = { ...operation, updates: done ?? operation.updates };
  reached('refs.moved');
  await platform.store.write(async (tx) => {
    if (!(await take(tx, operation))) return;
    await refsMoved(platform, tx, finished);
    await complete?.(tx, finished);
  });
  reached('operation.completed');
};
