/** Counts the calls and streams in progress, so that a stop can let them finish and begin no others. */
import { GitError } from '../failure.ts';

export type Drain = {
  /** Counts one more; answers what ends it. @throws GitError `unavailable` while draining */
  begin: () => () => void;
  /** From now on nothing begins; resolves when what is in progress has ended. */
  drain: () => Promise<void>;
};

export const makeDrain = (): Drain => {
  const idle = Promise.withResolvers<void>();
  let active = 0;
  let draining = false;
  const settle = (): void => {
    if (draining && active === 0) idle.resolve();
  };
  return {
    begin: () => {
      if (draining) throw new GitError('unavailable', 'the repository storage is stopping');
      active += 1;
      return () => {
        active -= 1;
        settle();
      };
    },
    drain: async () => {
      draining = true;
      settle();
      await idle.promise;
    },
  };
};
