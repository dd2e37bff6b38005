import type { Command } from 'commander';
import { type Config, fields } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, pendingMigrations } from '../../platform/db/migrate.ts';
import { lockFolder, prepareFolder } from '../service/data_folder.ts';
import { openInstance } from '../service/open_instance.ts';
import { databaseExists, openExistingStore } from '../service/open_database.ts';
import { type Tried, tryMigrations } from '../backup/try_migrations.ts';
import { moveDatabase, undoMove } from '../backup/move_database.ts';
import { showParts } from './backup/command_helpers.ts';
import { withScratch } from './backup/scratch_folder.ts';
import { UsageFailure, action } from './command_builders.ts';
import { columns, print } from './print_result.ts';
import { spellCount } from '../../platform/spell_count.ts';
import { type Progress, showProgress, silentProgress } from './progress.ts';
import { readDataSettings } from './data_owner.ts';
import { addSettings } from './setting_options.ts';
import { storeParts } from './with_store.ts';

type Options = { json?: boolean; dryRun?: boolean; to?: string; toSchema?: string; undoMove?: boolean };

const pending = async (config: Config): Promise<string[]> => {
  if (!databaseExists(config)) return pendingMigrations([]);
  const store = await openExistingStore(storeParts(config));
  try {
    const names = pendingMigrations((await appliedMigrations(store)) ?? []);
    return names.length === 0 ? await migrate(store) : names; // refuses a newer database
  } finally {
    await store.close();
  }
};

const sumSeconds = ({ migrations }: Tried): number =>
  migrations.reduce((sum, { seconds }) => sum + seconds, 0);

const formatTried = (tried: Tried): string => {
  const cells = tried.migrations.map(({ name, seconds }) => [`  ${name}`, `${seconds.toFixed(1)} s`]);
  const [copy, migrations] = [tried.copySeconds, sumSeconds(tried)].map((seconds) => seconds.toFixed(1));
  return [
    `\nCopying the database took ${copy} seconds. An upgrade copies it, too, before its migrations.`,
    `On the copy, the migrations took ${migrations} seconds:`,
    columns(cells),
  ].join('\n');
};

const runTrial = async (config: Config, { json = false }: Options): Promise<Tried | null> =>
  await withScratch(config, async (scratch) => {
    const { end, onPart, advance } = showParts({ json });
    try {
      return await tryMigrations({ config, scratch, onPart, advance });
    } finally {
      end();
    }
  });

const dryRun = async (config: Config, options: Options): Promise<void> => {
  const names = await pending(config);
  const tried = names.length === 0 || !databaseExists(config) ? null : await runTrial(config, options);
  const text = formatNames(names, 'Would apply:') + (tried === null ? '' : formatTried(tried));
  const seconds = tried === null ? null : sumSeconds(tried);
  const { copySeconds: copy_seconds = null, migrations = null } = tried ?? {};
  print(options, { pending: names, copy_seconds, seconds, migrations }, text);
};

const apply = async (config: Config): Promise<string[]> => {
  prepareFolder(config.data);
  // On PostgreSQL services run meanwhile, also that of this folder; a lock of the database orders the migrations.
  const lock = config.database_url === null ? lockFolder(config.data) : null;
  try {
    const { store, applied } = await openInstance(storeParts(config));
    await store.close();
    return applied;
  } finally {
    lock?.release();
  }
};

/** Reads `--to`. @throws UsageFailure */
const readTarget = (config: Config, { to = '', toSchema }: Options): Config => {
  try {
    return {
      ...config,
      database_url: to === 'sqlite' ? null : fields.database_url.read(to),
      database_schema:
        toSchema === undefined ? config.database_schema : fields.database_schema.read(toSchema),
    };
  } catch (error) {
    throw new UsageFailure(`--to or --to-schema ${(error as Error).message}, or "sqlite"`);
  }
};

const move = async (config: Config, options: Options): Promise<void> => {
  const target = readTarget(config, options);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  let progress: Progress = silentProgress;
  try {
    const tables = await moveDatabase(config, target, (done, total) => {
      if (options.json !== true && progress === silentProgress) progress = showProgress('rows copied', total);
      progress.set(done);
    });
    const rows = Object.values(tables).reduce((sum, one) => sum + one, 0);
    const next =
      target.database_url === null
        ? 'Start the service without GANTRY_DATABASE_URL.'
        : 'Start the service with that URL in GANTRY_DATABASE_URL.';
    print(
      options,
      { tables },
      `Copied and compared ${spellCount(rows, 'row')} of ${spellCount(Object.keys(tables).length, 'table')}. ${next}`,
    );
  } finally {
    progress.end();
    lock.release();
  }
};

const formatNames = (names: readonly string[], title: string): string =>
  names.length === 0
    ? 'The database is up to date.'
    : [title, ...names.map((name) => `  ${name}`)].join('\n');

const migrateNow = async (options: Options & { [option: string]: unknown }): Promise<void> => {
  const { config } = readDataSettings(options);
  if (options.to !== undefined) return await move(config, options);
  if (options.undoMove === true) {
    const wasMoved = await undoMove(config);
    const text = wasMoved ? 'The database is used again.' : 'The database was not moved.';
    return print(options, { was_moved: wasMoved }, text);
  }
  if (options.dryRun === true) return await dryRun(config, options);
  const names = await apply(config);
  print(options, { applied: names }, formatNames(names, 'Applied:'));
};

export const migrateCommand = (): Command =>
  addSettings(
    action('migrate', {
      summary:
        'Bring the database to the schema of this version: on SQLite while no service runs, on PostgreSQL also while services run. "serve" does so, too.',
      examples: [
        'gantry migrate --data /var/lib/gantry',
        'gantry migrate --dry-run --json',
        'gantry migrate --to postgres://gantry:secret@db/gantry',
      ],
    })
      .option(
        '--dry-run',
        'print what would be applied, and try it on a copy: a file, or a schema <name>_dry_run',
      )
      .option(
        '--to <url>',
        'move the database into an empty one: postgres://..., or "sqlite" for the file in the data folder',
      )
      .option('--undo-move', 'use a database again that was moved by --to; the other one must not be used')
      .option('--to-schema <name>', 'PostgreSQL schema of the target (without it: GANTRY_DATABASE_SCHEMA)'),
    ['data'],
  ).action(migrateNow);
