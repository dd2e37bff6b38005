import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type PartProgress, recordProgress, recordVerification } from '../../backup/backup_records.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { openPlaceToRead } from '../../backup/open_place.ts';
import { findManifest } from '../../backup/places/backup_place.ts';
import { verifyBackup } from '../../backup/verify.ts';
import type { Config } from '../../../platform/config/fields.ts';
import { readConfig } from '../../../platform/config/read_config.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { systemClock } from '../../../platform/time.ts';
import { makeLog } from '../../service/log.ts';
import { databaseExists } from '../../service/open_database.ts';
import { action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';
import { type Options, getPlace, showParts } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';

/** Starts a service on a restored folder, and asks it whether it is ready. */
const boot = async (config: Config): Promise<void> => {
  const { startService } = await import('../../main.ts');
  const onFatal = (error: unknown): void => {
    throw error;
  };
  const log = makeLog(config);
  const service = await startService({
    config,
    configOrigin: readConfig({}, {}).origin,
    clock: systemClock,
    random: randomBytes,
    log,
    onFatal,
  });
  try {
    const response = await fetch(`${service.url}/-/readiness`);
    if (response.status !== 200)
      throw new StartFailure(`the restored service is not ready (${response.status})`);
  } finally {
    await service.close();
  }
};

/** Records the outcome where the database of this instance is there and knows the backup. */
const record = async (config: Config, name: string, problem: string | null): Promise<void> => {
  if (!databaseExists(config)) return;
  const recorded = withStore(config, async (store) => await recordVerification(store, name, problem));
  await recorded.catch(() => undefined); // the outcome is printed all the same
};

/** Milliseconds between two records of the progress. */
const progressPause = 15_000;

/** Records the progress in the database of this instance, where it knows the backup. Returns what stops it. */
const keepProgress = (
  config: Config,
  name: string,
  getProgress: () => PartProgress | null,
): (() => Promise<void>) => {
  if (!databaseExists(config)) return async () => undefined;
  const write = async (): Promise<void> => {
    const progress = getProgress();
    if (progress !== null)
      await withStore(config, async (store) => await recordProgress(store, name, progress));
  };
  let written = Promise.resolve();
  const timer = setInterval(() => void (written = written.then(write).catch(() => undefined)), progressPause);
  return async () => {
    clearInterval(timer);
    await written;
  };
};

/** Verifies a backup, and records the outcome. @throws StartFailure that says what is wrong */
export const verifyNamed = async (config: Config, from: string, options: Options): Promise<Manifest> =>
  await withScratch(config, async (scratch) => {
    const { end, ...progress } = showParts(options);
    try {
      const place = await openPlaceToRead(config, from, scratch);
      const manifest = await findManifest(place, options.backup);
      const stop = keepProgress(config, manifest.name, progress.getProgress);
      try {
        await verifyBackup({ config, place, manifest, scratch, boot, ...progress });
      } catch (error) {
        await stop();
        await record(config, manifest.name, `it was not verified: ${(error as Error).message}`);
        throw error;
      }
      await stop();
      await record(config, manifest.name, null);
      return manifest;
    } finally {
      end();
    }
  });

const verify = async (from: string | undefined, options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const { name, counts } = await verifyNamed(config, getPlace(from, config), options);
  const text = `${name} is whole: every object, row count and ref is right, git fsck finds no damage, and it starts.`;
  print(options, { name, verified: true, counts }, text);
};

export const verifyCommand = (): Command =>
  addSettings(
    action('verify', {
      summary:
        'Restore a backup to a scratch folder (GANTRY_BACKUP_SCRATCH, else the data folder), compare it with its manifest, run git fsck and start it. Needs as much disk space as the instance.',
      examples: ['gantry backup verify /srv/backups', 'gantry backup verify gantry.tar.zst --json'],
    })
      .argument('[place]', 'a folder, FILE.tar.zst or s3://BUCKET/PREFIX (without it: GANTRY_BACKUP_TO)')
      .option('--backup <name>', 'one of its backups (without it: the newest)'),
    ['data'],
  ).action(verify);
