/** Tracks the work that this process runs. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type LeasedWork, releaseLost } from './leases.ts';
import { type RunnerParts, type WorkerParts, runWork } from './run_work.ts';

/** Returns whether the store cannot be written at the moment. */
const isStoreAway = ({ store, isOutage }: WorkerParts, error: unknown): boolean =>
  isOutage?.(error) === true || store.isUnreachable(error) || store.isStoreFull(error);

/** @property id null until the enqueuing transaction commits */
type Piece = { name: string; id: number | null };

/** Returns the ids of pieces; null if a transaction that enqueues one of them has not committed. */
const listIds = (pieces: readonly Piece[]): number[] | null => {
  const ids = pieces.map(({ id }) => id);
  return ids.includes(null) ? null : ids.filter((id) => id !== null);
};

/** Tracks running work, and calls back when a piece ends, whatever its outcome. */
export const makeRunning = (parts: RunnerParts, onEnd: (name: string) => void) => {
  const pieces = new Map<Promise<void>, Piece>();
  let changes = 0;
  let mayHoldMore = false;
  const add = (piece: Piece, run: Promise<void>): void => {
    const failed = (error: unknown): void => {
      parts.log.error({ err: error }, 'the work queue failed');
      running.noteFailure(error);
    };
    const ended: Promise<void> = run.catch(failed).finally(() => {
      pieces.delete(ended);
      changes += 1;
      onEnd(piece.name);
    });
    pieces.set(ended, piece);
    changes += 1;
  };
  const outsideOfRequests = AsyncLocalStorage.snapshot();
  const running = {
    names: (): string[] => [...pieces.values()].map(({ name }) => name),
    /** Returns the ids of pieces whose transaction has committed. */
    ids: (): number[] => [...pieces.values()].flatMap(({ id }) => id ?? []),
    /** Records a failure of the store, which may leave rows leased to this process that it does not run. */
    noteFailure: (error: unknown): void => void (mayHoldMore ||= isStoreAway(parts, error)),
    /** Releases those rows. */
    releaseLost: async (): Promise<void> => {
      if (!mayHoldMore) return;
      mayHoldMore = false;
      try {
        mayHoldMore = !(await releaseLost(parts.store, () => listIds([...pieces.values()])));
      } catch (error) {
        // Other work need not wait for it.
        mayHoldMore = true;
        parts.log.warn({ err: error }, 'could not release work');
      }
    },
    /** Returns how many pieces have begun and ended. */
    changes: (): number => changes,
    start: (taken: LeasedWork): void => add(taken, runWork(parts, taken)),
    /** Reserves a slot. Call the result with the leased work, or with null to release the slot. */
    reserveSlot: (name: string): ((taken: LeasedWork | null) => void) => {
      const { promise, resolve } = Promise.withResolvers<LeasedWork | null>();
      const piece: Piece = { name, id: null };
      const run = async (): Promise<void> => {
        const taken = await promise;
        if (taken !== null) await runWork(parts, taken);
      };
      outsideOfRequests(() => add(piece, run()));
      return (taken) => {
        piece.id = taken?.id ?? null;
        resolve(taken);
      };
    },
    waitForOne: async (): Promise<void> => await Promise.race(pieces.keys()),
    waitForAll: async (): Promise<void> => void (await Promise.all(pieces.keys())),
  };
  return running;
};

export type Running = ReturnType<typeof makeRunning>;
