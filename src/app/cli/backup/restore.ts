import type { Command } from 'commander';
import type { Config } from '../../../platform/config/fields.ts';
import type { Manifest } from '../../backup/manifest.ts';
import { openPlaceToRead } from '../../backup/open_place.ts';
import { findManifest } from '../../backup/places/backup_place.ts';
import { restoreBackup } from '../../backup/restore.ts';
import { lockFolder, prepareFolder } from '../../service/data_folder.ts';
import { type StorageLocks, lockStorages, unlockStorages } from '../../service/storage_locks.ts';
import { UsageFailure, action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { restoreOneProject } from './restore_project.ts';
import { type Options, getPlace, showParts } from './command_helpers.ts';
import { withScratch } from './scratch_folder.ts';

/** Says that the database becomes SQLite: it does, too, if a shell does not have the settings of the service. */
const warnOtherEngine = ({ name, engine }: Manifest, { database_url }: Config): void => {
  if (engine !== 'postgres' || database_url !== null) return;
  process.stderr.write(
    `gantry: warning: ${name} is of a PostgreSQL database and is restored to SQLite, because GANTRY_DATABASE_URL is not set\n`,
  );
};

const formatTarget = ({ data, database_url, database_schema }: Config): string =>
  database_url === null ? `${data}, on SQLite` : `${data} and the PostgreSQL schema ${database_schema}`;

const restore = async (from: string | undefined, options: Options): Promise<void> => {
  if (options['project'] !== undefined) {
    if (options['quiet'] === true) throw new UsageFailure('--quiet goes with a whole instance');
    return await restoreOneProject(from, options);
  }
  const isQuiet = options['quiet'] === true;
  if (options['as'] !== undefined) throw new UsageFailure('--as goes with --project');
  const { config } = readDataSettings(options, false);
  const source = getPlace(from, config);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  const storages: StorageLocks = new Map();
  const { end, ...progress } = showParts(options);
  try {
    lockStorages(config, storages);
    const { name, instance, counts } = await withScratch(config, async (scratch) => {
      const place = await openPlaceToRead(config, source, scratch);
      const manifest = await findManifest(place, options.backup);
      warnOtherEngine(manifest, config);
      await restoreBackup({ config, place, manifest, isQuiet, ...progress });
      return manifest;
    });
    end();
    const quiet = isQuiet ? ' It sends nothing until "gantry backup activate".' : '';
    const text = `${name} of the instance ${instance} is restored to ${formatTarget(config)}.${quiet} Start the service, then check it with "gantry doctor --thorough".`;
    print(options, { name, instance, counts, quiet: isQuiet }, text);
  } finally {
    end();
    unlockStorages(storages);
    lock.release();
  }
};

export const restoreCommand = (): Command =>
  addSettings(
    action('restore', {
      summary:
        'Restore a backup into an empty instance of the same or a newer version, on the configured SQLite or PostgreSQL database. Run it again after an interruption. With --project: restore one project into an instance, also while the service runs.',
      examples: [
        'gantry backup restore /srv/backups --data /var/lib/gantry',
        'gantry backup restore /srv/backups --data /srv/copy --quiet',
        'gantry backup restore gantry.tar.zst --backup 20261126T023000Z-1a2b3c4d',
        'gantry backup restore /srv/backups --project team/site --as team/site-before',
      ],
    })
      .argument('[place]', 'a folder, FILE.tar.zst or s3://BUCKET/PREFIX (without it: GANTRY_BACKUP_TO)')
      .option('--backup <name>', 'one of its backups (without it: the newest)')
      .option(
        '--quiet',
        'for a trial next to the original: the copy sends no mail and no webhooks, runs no schedules, imports and jobs, and makes no backups, until "gantry backup activate"',
      )
      .option('--project <path>', 'restore only this project, as a new project with new ids')
      .option('--as <path>', 'path of the restored project (without it: as in the backup)'),
    ['data'],
  ).action(restore);
