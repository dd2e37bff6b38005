/** The objects that a place has. What is missing, cut short or known to be damaged is stored again by the next backup. */
import type { StoredObject } from '../manifest.ts';
import { type BackupPlace, forgetDamage, listDamage } from './backup_place.ts';

export type StoredObjects = {
  /** Returns whether an object is there in this size and not known to be damaged. */
  has: (object: StoredObject) => boolean;
  /** Returns the size of an object that is there and not known to be damaged; null: there is none. */
  findSize: (sha256: string) => number | null;
  /** Notes that an object was stored. */
  add: (object: StoredObject) => Promise<void>;
};

/** Lists all objects at once: a bucket answers for a thousand in one request. */
export const loadStoredObjects = async (place: BackupPlace): Promise<StoredObjects> => {
  const damaged = new Set(await listDamage(place));
  const sizes = new Map<string, number>();
  for await (const { sha256, size } of place.listObjects()) if (!damaged.has(sha256)) sizes.set(sha256, size);
  return {
    has: ({ sha256, size }) => sizes.get(sha256) === size,
    findSize: (sha256) => sizes.get(sha256) ?? null,
    add: async ({ sha256, size }) => {
      sizes.set(sha256, size);
      // If nothing may be deleted, the object is stored again by each backup.
      if (damaged.delete(sha256)) await forgetDamage(place, sha256).catch(() => undefined);
    },
  };
};
