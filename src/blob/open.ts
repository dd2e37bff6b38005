import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import type { Store } from '../db/open.ts';
import { type AppendFiles, openAppendFiles } from './append_files.ts';
import { type Blobs, openBlobs } from './files.ts';

/** The store of bytes that the configuration names. One that is away is no reason not to start. */
const openConfigured = async (config: Config, log: Logger): Promise<Blobs> => {
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

type Parts = { config: Config; store: Store; log: Logger };

/** What jobs print: in the data folder, unless other services may share the database and the bucket with this one. */
const openTraces = async ({ config, store, log }: Parts, blobs: Blobs): Promise<AppendFiles> => {
  const files = await openAppendFiles(join(config.data, 'traces'));
  if (s3Place(config) === null || config.database_url === null) return files;
  const { openAppendRows } = await import('./append_rows.ts');
  return openAppendRows({
    store,
    blobs,
    files,
    onFailure: (error, { id }) => log.warn({ err: error, job_id: id }, 'a log stays in the database'),
  });
};

export const openBytes = async (parts: Parts): Promise<{ blobs: Blobs; traces: AppendFiles }> => {
  const blobs = await openConfigured(parts.config, parts.log);
  return { blobs, traces: await openTraces(parts, blobs) };
};
