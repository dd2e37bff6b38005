/** Compares a storage with the instance at startup, and claims it. */
import { inspectStorage } from '../../../gitd/disk/inspect_storage.ts';
import type { Connection } from './connection.ts';
import { writeMarker } from './instance_marker.ts';
import type { StorageState } from './protocol_types.ts';
import { type GitParts, type StorageSite, openCheckedConnection, getLocalRoot } from './storages.ts';

export type StorageClaim = {
  /**
   * @param repositories paths of some that should exist
   * @throws GitFailure `unavailable`
   */
  inspect: (repositories: string[]) => Promise<StorageState>;
  claim: (instance: string) => Promise<void>;
};

/** Claims a storage. For a local storage, reads and writes its folder directly, without starting gitd. */
export const openClaim = (
  { data, secret, ca }: Pick<GitParts, 'data' | 'secret' | 'ca'>,
  site: StorageSite,
): StorageClaim => {
  const { address } = site;
  if (address === null) {
    const root = getLocalRoot(data, site);
    return {
      inspect: async (repositories) => await inspectStorage(root, repositories),
      claim: async (instance) => await writeMarker(root, instance),
    };
  }
  const within = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await openCheckedConnection({ address, secret: secret ?? '', ca, instance: null });
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
