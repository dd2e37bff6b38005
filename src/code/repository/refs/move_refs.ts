/**
 * Moves branches and tags. Other code must not call `refs.update` for them; internal refs (such as merge request refs)
 * are written directly.
 */
import type { Platform } from '../../../core/platform.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { unavailable } from '../../../platform/errors.ts';
import { publishReached } from '../../../platform/git/durability_points.ts';
import { GitFailure } from '../../../platform/git/failure.ts';
import type { RefUpdate } from '../../../platform/git/protocol_types.ts';
import type { Cause } from '../../../core/events/record_event.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { getRepository } from '../get_repository.ts';
import { readDefaultHead } from './default_head.ts';
import { holdRepository } from '../moves/hold_repository.ts';
import {
  type Completion,
  beginOperation,
  dropOperation,
  finishOperation,
  writeBeginning,
} from './operations.ts';
import type { Operation, OperationKind } from './operation_types.ts';

export type Move = {
  project: RepositoryLocation;
  cause: Cause | null;
  kind: OperationKind;
  /** Each update contains the old value that the caller read (compare-and-set). */
  updates: RefUpdate[];
  /** Plain JSON for `complete`, which may run in another process after this one died. */
  data?: Record<string, unknown>;
  /**
   * Runs in the transaction that starts the operation. Rechecks permissions; throws if the move is no longer allowed.
   */
  check?: (tx: Tx) => Promise<void>;
  /** Runs in the transaction that completes the operation. Must equal the registered completion of this kind. */
  complete?: Completion;
};

const begin = async (platform: Platform, move: Move): Promise<Operation> => {
  const defaultHead = await readDefaultHead(platform, move.project, move.updates);
  return await writeBeginning(platform.store, async (tx) => {
    await holdRepository(tx, move.project);
    await move.check?.(tx);
    return await beginOperation(tx, { ...move, data: { ...move.data, ...defaultHead } });
  });
};

/** A move that is done in git but not yet completed in the database. */
export type MoveInGit = { operation: Operation; complete?: Completion };

/**
 * Moves refs in git: all of them, or none. The caller must call `finishOperation` with the result before it replies.
 * If the process dies before that, recovery completes the operation from its row.
 * @throws GitFailure `conflict` if a ref no longer has the old value; nothing has changed
 * @throws Failure 503 if the repository is being moved to another storage; nothing has changed
 * @throws Failure 503 if the storage does not answer; recovery determines the outcome later
 */
export const moveInGit = async (platform: Platform, move: Move): Promise<MoveInGit> => {
  const { project, updates, complete } = move;
  const operation = await begin(platform, move);
  publishReached('operation.begun');
  try {
    await getRepository(platform, project).ask('refs.update', { updates });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    if (error.kind === 'conflict' || error.kind === 'invalid' || error.kind === 'missing') {
      await dropOperation(platform, operation);
      throw error;
    }
    throw unavailable();
  }
  return { operation, ...(complete !== undefined && { complete }) };
};

/**
 * Moves refs as `moveInGit` does, and completes the operation: durable in git and in the database.
 * @throws as `moveInGit`
 */
export const moveRefs = async (platform: Platform, move: Move): Promise<Operation> => {
  const moved = await moveInGit(platform, move);
  await finishOperation(platform, moved);
  return moved.operation;
};
