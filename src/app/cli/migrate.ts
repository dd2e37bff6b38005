import type { Command } from 'commander';
import type { Config } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, pendingMigrations } from '../../platform/db/migrate.ts';
import { lockFolder, prepareFolder } from '../service/data_folder.ts';
import { openInstance } from '../service/open_instance.ts';
import { databaseExists, openExistingStore } from '../service/open_database.ts';
import { action, print } from './define_commands.ts';
import { addSettings, readSettings } from './setting_options.ts';
import { storeParts } from './with_store.ts';

type Options = { json?: boolean; dryRun?: boolean };

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

const apply = async (config: Config): Promise<string[]> => {
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  try {
    const { store, applied } = await openInstance(storeParts(config));
    await store.close();
    return applied;
  } finally {
    lock.release();
  }
};

const formatNames = (names: readonly string[], title: string): string =>
  names.length === 0
    ? 'The database is up to date.'
    : [title, ...names.map((name) => `  ${name}`)].join('\n');

const migrateNow = async (options: Options & { [option: string]: unknown }): Promise<void> => {
  const { config } = readSettings(options);
  if (options.dryRun === true) {
    const names = await pending(config);
    print(options, { pending: names }, formatNames(names, 'Would apply:'));
    return;
  }
  const names = await apply(config);
  print(options, { applied: names }, formatNames(names, 'Applied:'));
};

export const migrateCommand = (): Command =>
  addSettings(
    action('migrate', {
      summary:
        'Bring the database to the schema of this version, while no service runs. "serve" does so, too.',
      examples: ['gantry migrate --data /var/lib/gantry', 'gantry migrate --dry-run --json'],
    }).option('--dry-run', 'only print what would be applied'),
    ['data'],
  ).action(migrateNow);
