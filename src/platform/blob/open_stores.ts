import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/fields.ts';
import { getS3Location } from '../config/blobs.ts';
import type { Store } from '../db/open.ts';
import { type AppendFiles, openAppendFiles } from './append_files.ts';
import { type Blobs, openBlobs } from './blob_files.ts';
import { runPeriodically } from './run_periodically.ts';
import type { Log } from './s3_client.ts';

type Opened<T> = { opened: T; close: () => Promise<void> | void };

/** Milliseconds between two cleanups of abandoned uploads, and between two retries of logs that wait for the bucket. */
const pauses = { abandoned: 6 * 3_600_000, waiting: 60_000 };

/**
 * Opens the configured blob store. An unreachable store does not prevent the start.
 * @param options `instance`: refuses a bucket of another instance; default: none is refused
 */
export const openConfiguredBlobs = async (
  config: Config,
  log: Pick<Logger, 'warn'>,
  { isGuest = false, instance = null }: { isGuest?: boolean; instance?: string | null } = {},
): Promise<Opened<Blobs>> => {
  const location = getS3Location(config);
  if (location === null) {
    return { opened: await openBlobs(join(config.data, 'blobs'), isGuest), close: () => undefined };
  }
  const [{ openBucket }, { openS3, removeAbandoned }, { guardBucket }] = await Promise.all([
    import('./s3_client.ts'),
    import('./s3_blobs.ts'),
    import('./guarded_bucket.ts'),
  ]);
  const warn: Log = (details, message) => log.warn(details, message);
  const opened = openBucket(location, warn);
  const bucket = instance === null ? opened : guardBucket(opened, instance, warn);
  // It logs its failures itself.
  const tidy = async (): Promise<void> => await removeAbandoned(bucket, Date.now()).catch(() => undefined);
  return { opened: openS3(bucket, instance), close: runPeriodically(pauses.abandoned, tidy) };
};

type Parts = {
  config: Config;
  store: Store;
  log: Logger;
  /** The instance to which the store must belong. */
  instance: string;
  /** Runs while a service owns the data folder. */
  isGuest?: boolean;
};

/** Job logs in the data folder of a service that shares its logs with others: they are from before it did. */
export type OwnLogs = { folder: string; files: AppendFiles };

type Traces = Opened<AppendFiles> & { own: OwnLogs | null };

/**
 * Opens the store of job logs: the data folder, or shared storage if other services use the same database and bucket.
 */
const openTraces = async ({ config, store, log }: Parts, blobs: Blobs): Promise<Traces> => {
  const folder = join(config.data, 'traces');
  const files = await openAppendFiles(folder);
  if (getS3Location(config) === null || config.database_url === null) {
    return { opened: files, own: null, close: async () => await files.close() };
  }
  const [{ openAppendRows }, { archiveWaitingFiles }] = await Promise.all([
    import('./append_rows.ts'),
    import('./retry_archiving.ts'),
  ]);
  const parts = {
    store,
    blobs,
    files,
    onFailure: (error: unknown, { id }: { id: number }) =>
      log.warn({ err: error, job_id: id }, 'could not archive a job log; it stays in the database'),
  };
  const traces = openAppendRows(parts);
  const tryAgain = async (): Promise<void> =>
    await archiveWaitingFiles(parts).catch((error: unknown) =>
      log.warn({ err: error }, 'could not archive waiting job logs'),
    );
  const end = runPeriodically(pauses.waiting, tryAgain);
  return {
    opened: traces,
    own: { folder, files },
    close: async () => {
      end();
      await traces.close();
    },
  };
};

type Bytes = {
  blobs: Blobs;
  traces: AppendFiles;
  /** null: `traces` are in the data folder. */
  ownLogs: OwnLogs | null;
  close: () => Promise<void>;
};

export const openBytes = async (parts: Parts): Promise<Bytes> => {
  const blobs = await openConfiguredBlobs(parts.config, parts.log, parts);
  const traces = await openTraces(parts, blobs.opened);
  return {
    blobs: blobs.opened,
    traces: traces.opened,
    ownLogs: traces.own,
    close: async () => {
      await traces.close();
      await blobs.close();
    },
  };
};
