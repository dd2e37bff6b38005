import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type CopyResult, copyToBucket } from '../../../platform/blob/copy_to_bucket.ts';
import { openBucket } from '../../../platform/blob/s3_client.ts';
import { getS3Location } from '../../../platform/config/blobs.ts';
import { Failure, StartFailure } from '../../../platform/errors.ts';
import { readMarker } from '../../../platform/git/instance_marker.ts';
import { lockFolder, prepareFolder } from '../../service/data_folder.ts';
import { readInstanceRecord } from '../../service/instance_record.ts';
import { type AdminOptions, adminAction } from '../admin/user.ts';
import { UsageFailure } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { spellCount } from '../../../platform/spell_count.ts';
import { type Progress, showProgress, silentProgress } from '../progress.ts';
import { readDataSettings } from '../data_owner.ts';
import { withStore } from '../with_store.ts';

/** Locks the data folder; null: a service uses it. */
const tryLock = (folder: string): { release: () => void } | null => {
  try {
    return lockFolder(folder);
  } catch {
    return null;
  }
};

/** @throws StartFailure if the command runs already: one run must not remove what the other completed */
const lockCommand = (data: string): { release: () => void } => {
  const folder = join(data, 'copy_blobs');
  prepareFolder(folder);
  try {
    return lockFolder(folder);
  } catch {
    throw new StartFailure(
      `another "gantry storage copy-blobs" runs on ${data}: wait until it ends, or stop it`,
    );
  }
};

type Copy = { data: string; instance: string; isLast: boolean; skipsDamaged: boolean; isQuiet: boolean };

const copy = async (
  location: NonNullable<ReturnType<typeof getS3Location>>,
  { data, isQuiet, ...parts }: Copy,
): Promise<CopyResult> => {
  let why: object = {};
  const bucket = openBucket(location, (details) => (why = details));
  let progress: Progress = silentProgress;
  try {
    return await copyToBucket({
      root: join(data, 'blobs'),
      bucket,
      ...parts,
      onTotal: (total) => {
        if (!isQuiet && total > 0) progress = showProgress('files copied', total);
      },
      advance: () => progress.advance(),
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new StartFailure(
      `${location.endpoint} refused a request for the bucket ${location.bucket}: ${JSON.stringify(why)}; run the command again to continue`,
    );
  } finally {
    progress.end();
  }
};

const describeCounts = ({ copied, present, removed }: CopyResult): string =>
  [
    `${spellCount(copied, 'file')} copied`,
    `${present} there already`,
    ...(removed > 0 ? [`${removed} removed that the service removed meanwhile`] : []),
  ].join(', ');

const endings = {
  complete: 'The bucket takes the place of the folder: start the service with these settings.',
  running:
    'A service still uses the folder: stop it, and run the command again, which copies what is new and completes the move.',
  damaged: 'The move is not complete.',
};

const pickEnding = ({ isComplete }: CopyResult, isLast: boolean): string => {
  if (isComplete) return endings.complete;
  return isLast ? endings.damaged : endings.running;
};

const toText = (result: CopyResult, data: string, isLast: boolean): string =>
  [
    ...result.damaged.map((key) => `warning: ${join(data, 'blobs', key)} is damaged and was not copied`),
    `${describeCounts(result)}. ${pickEnding(result, isLast)}`,
  ].join('\n');

/** @throws StartFailure if the folder could not be renamed after the copy */
const requireNoMoved = (data: string): void => {
  const moved = join(data, 'blobs.moved');
  if (existsSync(join(data, 'blobs')) && existsSync(moved))
    throw new StartFailure(`${moved} is left from an earlier move: rename or remove it`);
};

/** Renames the copied folder, so that a service that starts without the bucket does not continue with old files. */
const setAside = async (root: string, instance: string): Promise<void> => {
  if ((await readMarker(root)) === instance) renameSync(root, `${root}.moved`);
};

type CopyOptions = AdminOptions & { skipDamaged?: boolean };

const copyBlobs = async (options: CopyOptions): Promise<void> => {
  const { config } = readDataSettings(options);
  const location = getS3Location(config);
  if (location === null)
    throw new UsageFailure(
      'name the bucket in GANTRY_BLOB_S3_ENDPOINT, GANTRY_BLOB_S3_BUCKET and the others',
    );
  const { data } = config;
  const commandLock = lockCommand(data);
  const lock = tryLock(data);
  const isLast = lock !== null;
  try {
    requireNoMoved(data);
    const { id } = await withStore(config, async (store) => await readInstanceRecord(store));
    if (id === null) throw new StartFailure('the instance has no id yet: start "gantry serve" once');
    const flags = { skipsDamaged: options.skipDamaged === true, isQuiet: options.json === true };
    const result = await copy(location, { data, instance: id, isLast, ...flags });
    if (isLast && result.isComplete) await setAside(join(data, 'blobs'), id);
    print(options, result, toText(result, data, isLast));
    if (isLast && !result.isComplete)
      throw new StartFailure(
        'damaged files were not copied: restore them from a backup, or complete the move without them with --skip-damaged and keep the folder',
      );
  } finally {
    lock?.release();
    commandLock.release();
  }
};

export const copyBlobsCommand = (): Command =>
  adminAction('copy-blobs', {
    summary:
      'Copy artifacts, uploads and pictures from the data folder to the bucket of GANTRY_BLOB_S3_..., comparing digests. Run it while the service runs, then again after stopping it; it continues where it was interrupted.',
    examples: ['gantry storage copy-blobs', 'gantry storage copy-blobs --data /var/lib/gantry --json'],
  })
    .option('--skip-damaged', 'complete the move although damaged files are not copied')
    .action(copyBlobs);
