import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import { type Blobs, openBlobs } from './files.ts';

/** The store of bytes that the configuration names. One that is away is no reason not to start. */
export const openConfigured = async (config: Config, log: Logger): Promise<Blobs> => {
  const place = s3Place(config);
  if (place === null) return await openBlobs(join(config.data, 'blobs'));
  const [{ openBucket }, { openS3, removeAbandoned }] = await Promise.all([
    import('./bucket.ts'),
    import('./s3.ts'),
  ]);
  const bucket = openBucket(place, (details, message) => log.warn(details, message));
  // It says itself what went wrong.
  removeAbandoned(bucket, Date.now()).catch(() => undefined);
  return openS3(bucket);
};
