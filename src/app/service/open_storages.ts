/** Opens the repository storages of a configuration for a command. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../platform/config/fields.ts';
import { type GitStorages, openGit } from '../../platform/git/storages.ts';

type StorageConfig = Pick<Config, 'repository_storages' | 'data' | 'gitd_secret'>;

/** Opens the storages for writing, while no service runs. */
export const openStorages = (
  { repository_storages: storages, data, gitd_secret: secret }: StorageConfig,
  instance: string,
  readOnly = false,
): GitStorages =>
  openGit({ storages, data, secret, instance, readOnly, random: randomBytes, log: () => undefined });

/**
 * Opens the storages for reading, also beside a running service.
 * @param instance the id of the database's instance; storages of other instances do not answer
 */
export const openStoragesToRead = (config: StorageConfig, instance: string): GitStorages =>
  openStorages(config, instance, true);
