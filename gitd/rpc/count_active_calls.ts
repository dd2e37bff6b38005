/** Counts the calls and streams in progress, so that a stop can wait for them and refuse new calls. */
import { GitError } from '../git_error.ts';

export type Drain = {
  /** Counts a call; returns a function that ends it. @throws GitError `unavailable` while draining */
  begin: () => () => void;
  /** Refuses new calls; resolves when calls in progress have ended. */
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
