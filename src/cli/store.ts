import type { Config } from '../config.ts';
import type { Store } from '../db/open.ts';
import { StartFailure } from '../errors.ts';
import { type StoreParts, openCurrentStore } from '../service/store.ts';
import { systemClock } from '../time.ts';

/** A failed commit rejects the write that waits for it: there is nobody else to tell. */
export const storeParts = (config: Config): StoreParts => ({
  config,
  clock: systemClock,
  onFatal: () => undefined,
});

/** Opens the store for one command, beside a service that may be running, and closes it again. */
export const withStore = async <T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> => {
  const store = await openCurrentStore(storeParts(config));
  try {
    return await work(store);
  } catch (error) {
    if (store.isStoreFull(error)) throw new StartFailure('the disk is full: make room, then try again');
    throw error;
  } finally {
    await store.close();
  }
};
