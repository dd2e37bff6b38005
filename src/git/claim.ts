/** What the start of a service compares of a storage, and how it marks one as its own. */
import type { Connection } from './connection.ts';
import { inspectStorage, writeMarker } from './marker.ts';
import type { StorageState } from './protocol_types.ts';
import { type StorageSite, greeted, localRoot } from './storages.ts';

export type StorageClaim = {
  /** @param repositories paths of some that should be there. @throws GitFailure `unavailable` */
  inspect: (repositories: string[]) => Promise<StorageState>;
  claim: (instance: string) => Promise<void>;
};

/** For a storage on this machine, reads and marks its folder itself: nothing is started for that. */
export const openClaim = (
  { data, secret }: { data: string; secret: string | null },
  site: StorageSite,
): StorageClaim => {
  const { address } = site;
  if (address === null) {
    const root = localRoot(data, site);
    return {
      inspect: async (repositories) => await inspectStorage(root, repositories),
      claim: async (instance) => await writeMarker(root, instance),
    };
  }
  const within = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await greeted({ address, secret: secret ?? '', instance: null });
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  };
  return {
    inspect: async (repositories) =>
      await within(
        async ({ call }) =>
          (await call('storage.inspect', { repositories }, undefined, {})).result as StorageState,
      ),
    claim: async (instance) =>
      await within(async ({ call }) => void (await call('storage.claim', { instance }, undefined, {}))),
  };
};
