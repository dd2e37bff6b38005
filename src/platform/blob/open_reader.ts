/** Opens the configured store of bytes for reading, while a service uses it. */
import { join } from 'node:path';
import type { Config } from '../config/fields.ts';
import { getS3Location } from '../config/blobs.ts';
import { type Blobs, readFiles } from './blob_files.ts';

/** `where`: describes the place of a key. */
export type BlobReader = { blobs: Pick<Blobs, 'get'>; where: (key: string) => string };

export const openBlobReader = async (config: Config): Promise<BlobReader> => {
  const location = getS3Location(config);
  if (location === null) {
    const root = join(config.data, 'blobs');
    return { blobs: readFiles(root), where: (key) => join(root, key) };
  }
  const [{ openBucket }, { openS3 }] = await Promise.all([import('./s3_client.ts'), import('./s3_blobs.ts')]);
  const bucket = openBucket(location, () => undefined);
  return { blobs: openS3(bucket), where: (key) => `${key} in the bucket ${location.bucket}` };
};
