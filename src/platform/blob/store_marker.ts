/** Reads and writes the marker of a blob store, and checks whether the store is empty. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { markerName, readMarker, writeMarker } from '../git/instance_marker.ts';
import { isMissing } from './file_system.ts';
import { readBucketMarker } from './guarded_bucket.ts';
import type { Bucket } from './s3_client.ts';

export type BlobMarker = {
  /** `instance`: the id in the marker; null: no marker. `isMissing`: the bucket does not exist. */
  inspect: () => Promise<{ instance: string | null; isEmpty: boolean; isMissing?: boolean }>;
  claim: (instance: string) => Promise<void>;
};

const holdsFile = async (folder: string): Promise<boolean> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const entry of entries) {
    if (!entry.isDirectory()) return true;
    if (await holdsFile(join(folder, entry.name))) return true;
  }
  return false;
};

/** Returns whether any area below a folder contains a file. */
const holdsBytes = async (root: string): Promise<boolean> => await holdsFile(join(root, 'projects'));

export const folderMarker = (root: string): BlobMarker => ({
  inspect: async () => {
    const instance = await readMarker(root);
    return { instance, isEmpty: instance === null && !(await holdsBytes(root)) };
  },
  claim: async (instance) => await writeMarker(root, instance),
});

export const bucketMarker = (bucket: Bucket): BlobMarker => ({
  inspect: async () => {
    if (!(await bucket.exists())) return { instance: null, isEmpty: true, isMissing: true };
    const instance = await readBucketMarker(bucket);
    if (instance !== null) return { instance, isEmpty: false };
    const { text } = await bucket.ask({ query: { 'list-type': '2', prefix: 'projects/', 'max-keys': '1' } });
    return { instance: null, isEmpty: !text.includes('<Key>') };
  },
  claim: async (instance) =>
    void (await bucket.ask({ method: 'PUT', key: markerName, body: Buffer.from(`${instance}\n`) })),
});
