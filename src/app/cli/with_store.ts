import type { Config } from '../../platform/config/fields.ts';
import type { Store } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { readInstanceRecord, refuseMoved } from '../service/instance_record.ts';
import { type StoreParts, openCurrentStore } from '../service/open_database.ts';
import { systemClock } from '../../platform/time.ts';

/** Returns the parts that open a store. Failed commits reject the write that waits for them. */
export const storeParts = (config: Config): StoreParts => ({
  config,
  clock: systemClock,
  onFatal: () => undefined,
});

/** Opens the store for one command, also while a service runs, and closes it afterwards. */
export const withStore = async <T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> => {
  const store = await openCurrentStore(storeParts(config));
  try {
    refuseMoved(await readInstanceRecord(store));
    return await work(store);
  } catch (error) {
    if (store.isStoreFull(error)) throw new StartFailure('the disk is full; free some space, then try again');
    throw error;
  } finally {
    await store.close();
  }
};
