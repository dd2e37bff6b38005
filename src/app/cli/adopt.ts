import type { Command } from 'commander';
import type { Config } from '../../platform/config/fields.ts';
import { lockFolder, prepareFolder } from '../service/data_folder.ts';
import { openInstance } from '../service/open_instance.ts';
import { type StorageLocks, lockStorages, unlockStorages } from '../service/storage_locks.ts';
import { UsageFailure, action } from './command_builders.ts';
import { print } from './print_result.ts';
import { readDataSettings } from './data_owner.ts';
import { addSettings } from './setting_options.ts';
import { storeParts } from './with_store.ts';

type Options = { json?: boolean; [option: string]: unknown };

const listParts = ({ repository_storages }: Config): string[] => [
  'secrets',
  'blobs',
  ...repository_storages.map(({ name }) => `storage:${name}`),
];

const adopt = async (names: string[], options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const parts = listParts(config);
  const unknownPart = names.find((name) => !parts.includes(name));
  if (unknownPart !== undefined)
    throw new UsageFailure(`unknown part ${unknownPart}; use one of ${parts.join(', ')}`);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  const storages: StorageLocks = new Map();
  try {
    lockStorages(config, storages);
    const { store, id } = await openInstance({ ...storeParts(config), adopted: new Set(names) });
    await store.close();
    print(options, { instance: id, adopted: names }, `${names.join(', ')} now belongs to the instance ${id}`);
  } finally {
    unlockStorages(storages);
    lock.release();
  }
};

export const adoptCommand = (): Command =>
  addSettings(
    action('adopt', {
      summary:
        'Assign a store or the secrets to this database as they are, while no service runs. Use it when the service refuses to start and no backup exists. Missing repositories stay unavailable, and data encrypted with other secrets (CI variables, second factors) is lost.',
      examples: ['gantry adopt storage:default', 'gantry adopt secrets blobs'],
    }).argument('<part...>', 'secrets, blobs, or storage:NAME for each repository storage'),
    ['data'],
  ).action(adopt);
