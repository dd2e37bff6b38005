/** Copies the database of SQLite before it is migrated, so that an upgrade can be undone. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { copyDatabaseFile } from '../../platform/db/sqlite/copy_file.ts';
import { StartFailure } from '../../platform/errors.ts';
import { databaseFile } from './open_database.ts';

/** Copies that are kept, the newest ones. */
const maxCopies = 2;

const upgradeFolder = (config: Pick<Config, 'data'>): string => join(config.data, 'before_upgrade');

const removeOld = (folder: string): void => {
  const names = readdirSync(folder).toSorted();
  for (const name of names.slice(0, -maxCopies)) rmSync(join(folder, name));
};

/**
 * Copies the database.
 * @param last the newest migration that it has
 * @returns the path of the copy; null on PostgreSQL, which is copied by its own tools
 * @throws StartFailure if there is no room; nothing was migrated
 */
export const copyBeforeUpgrade = async (
  config: Config,
  last: string,
  now: number,
): Promise<string | null> => {
  if (config.database_url !== null) return null;
  const folder = upgradeFolder(config);
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(folder, `${time}-${last}.sqlite`);
  const draft = join(folder, 'draft');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(draft, { force: true });
    await copyDatabaseFile(databaseFile(config), draft);
    renameSync(draft, file);
    removeOld(folder);
    return file;
  } catch (error) {
    rmSync(draft, { force: true });
    throw new StartFailure(
      `the database cannot be copied to ${folder} before the upgrade (${(error as Error).message}): free some space; nothing was changed`,
    );
  }
};
