import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { s3Place } from '../config_blobs.ts';
import type { Store } from '../db/open.ts';
import { type AppendFiles, openAppendFiles } from './append_files.ts';
import { type Blobs, openBlobs } from './files.ts';
import { regularly } from './regularly.ts';

type Opened<T> = { opened: T; close: () => Promise<void> | void };

/** Milliseconds between two looks for what dead processes left in the bucket, and for logs that it has yet to take. */
const pauses = { abandoned: 6 * 3_600_000, waiting: 60_000 };

/** The store of bytes that the configuration names. One that is away is no reason not to start. */
const openConfigured = async (config: Config, log: Logger): Promise<Opened<Blobs>> => {
  const place = s3Place(config);
  if (place === null) {
    return { opened: await openBlobs(join(config.data, 'blobs')), close: () => undefined };
  }
  const [{ openBucket }, { openS3, removeAbandoned }] = await Promise.all([
    import('./bucket.ts'),
    import('./s3.ts'),
  ]);
  const bucket = openBucket(place, (details, message) => log.warn(details, message));
  // It says itself what went wrong.
  const tidy = async (): Promise<void> => await removeAbandoned(bucket, Date.now()).catch(() => undefined);
  return { opened: openS3(bucket), close: regularly(pauses.abandoned, tidy) };
};

type Parts = { config: Config; store: Store; log: Logger };

/** What jobs print: in the data folder, unless other services may share the database and the bucket with this one. */
const openTraces = async ({ config, store, log }: Parts, blobs: Blobs): Promise<Opened<AppendFiles>> => {
  const files = await openAppendFiles(join(config.data, 'traces'));
  if (s3Place(config) === null || config.database_url === null) {
    return { opened: files, close: async () => await files.close() };
  }
  const [{ openAppendRows }, { archiveWaiting }] = await Promise.all([
    import('./append_rows.ts'),
    import('./archive_waiting.ts'),
  ]);
  const parts = {
    store,
    blobs,
    files,
    onFailure: (error: unknown, { id }: { id: number }) =>
      log.warn({ err: error, job_id: id }, 'a log waits in the database for the store of bytes'),
  };
  const traces = openAppendRows(parts);
  const tryAgain = async (): Promise<void> =>
    await archiveWaiting(parts).catch((error: unknown) =>
      log.warn({ err: error }, 'waiting logs were not looked for'),
    );
  const end = regularly(pauses.waiting, tryAgain);
  return {
    opened: traces,
    close: async () => {
      end();
      await traces.close();
    },
  };
};

type Bytes = { blobs: Blobs; traces: AppendFiles; close: () => Promise<void> };

export const openBytes = async (parts: Parts): Promise<Bytes> => {
  const blobs = await openConfigured(parts.config, parts.log);
  const traces = await openTraces(parts, blobs.opened);
  return {
    blobs: blobs.opened,
    traces: traces.opened,
    close: async () => {
      await traces.close();
      await blobs.close();
    },
  };
};
