/** The one way by which the service moves refs. */
import type { Platform } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { unavailable } from '../errors.ts';
import { reached } from '../git/effects.ts';
import { GitFailure } from '../git/failure.ts';
import type { RefUpdate } from '../git/protocol_types.ts';
import type { Cause } from '../events/record.ts';
import type { RepositoryPlace } from '../git/repository.ts';
import { repositoryOf } from './open.ts';
import {
  type Completion,
  type Operation,
  type OperationKind,
  beginOperation,
  dropOperation,
  finishOperation,
} from './operations.ts';

export type Move = {
  project: RepositoryPlace;
  cause: Cause | null;
  kind: OperationKind;
  /** With the old values that the caller has looked at. */
  updates: RefUpdate[];
  /** For `complete`, plain JSON: it may run in another process, after this one died. */
  data?: Record<string, unknown>;
  /** In the transaction that begins it: looks again whether it may be done, and throws where not. */
  check?: (tx: Tx) => Promise<void>;
  /** In the transaction that completes it. The same function stands in the list of completions by kind. */
  complete?: Completion;
};

const begin = async ({ store }: Platform, move: Move): Promise<Operation> =>
  await store.write(async (tx) => {
    await move.check?.(tx);
    return await beginOperation(tx, move);
  });

/**
 * Moves refs: all of them, or none. Answers once it is durable in git and in the database.
 * @throws GitFailure `conflict` where a ref is no longer what the caller saw: nothing has changed
 * @throws Failure 503 where the storage does not answer: whoever finds the row later looks what came of it
 */
export const moveRefs = async (platform: Platform, move: Move): Promise<Operation> => {
  const { project, updates, complete } = move;
  const operation = await begin(platform, move);
  reached('operation.begun');
  try {
    await repositoryOf(platform, project).ask('refs.update', { updates });
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    if (error.kind === 'conflict' || error.kind === 'invalid' || error.kind === 'missing') {
      await dropOperation(platform, operation);
      throw error;
    }
    throw unavailable();
  }
  await finishOperation(platform, { operation, ...(complete !== undefined && { complete }) });
  return operation;
};
