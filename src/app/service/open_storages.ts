/** Opens the repository storages of a configuration for a command. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../platform/config/fields.ts';
import { type GitStorages, openGit } from '../../platform/git/storages.ts';

type StorageConfig = Pick<Config, 'repository_storages' | 'data' | 'gitd_secret' | 'gitd_ca'>;

/** Opens the storages for writing, while no service runs. */
export const openStorages = (
  { repository_storages: storages, data, gitd_secret: secret, gitd_ca: ca }: StorageConfig,
  instance: string,
  isGuest = false,
): GitStorages =>
  openGit({ storages, data, secret, ca, instance, isGuest, random: randomBytes, log: () => undefined });

/**
 * Opens the storages next to a running service: for reading, and for writing to repositories that nobody else uses.
 * @param instance the id of the database's instance; storages of other instances do not answer
 */
export const openStoragesAsGuest = (config: StorageConfig, instance: string): GitStorages =>
  openStorages(config, instance, true);
