import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { lockFolder, prepareFolder } from '../service/data_folder.ts';
import { openInstance } from '../service/open_instance.ts';
import { UsageFailure, action, print } from './command.ts';
import { addSettings, readSettings } from './settings.ts';
import { storeParts } from './store.ts';

type Options = { json?: boolean; [option: string]: unknown };

const partsOf = ({ repository_storages }: Config): string[] => [
  'secrets',
  'blobs',
  ...repository_storages.map(({ name }) => `storage:${name}`),
];

const adopt = async (names: string[], options: Options): Promise<void> => {
  const { config } = readSettings(options);
  const parts = partsOf(config);
  const unknown = names.find((name) => !parts.includes(name));
  if (unknown !== undefined) throw new UsageFailure(`there is no ${unknown}: one of ${parts.join(', ')}`);
  prepareFolder(config.data);
  const lock = lockFolder(config.data);
  try {
    const { store, id } = await openInstance({ ...storeParts(config), adopted: new Set(names) });
    await store.close();
    print(options, { instance: id, adopted: names }, `${names.join(', ')} now belongs to the instance ${id}`);
  } finally {
    lock.release();
  }
};

export const adoptCommand = (): Command =>
  addSettings(
    action('adopt', {
      summary:
        'Make a store or the secrets belong to this database as they are, while no service runs. For what a start refuses and nothing can be restored for: repositories that the database knows and that are not there stay unavailable, and what other secrets sealed (CI variables, second factors) is lost.',
      examples: ['gantry adopt storage:default', 'gantry adopt secrets blobs'],
    }).argument('<part...>', 'secrets, blobs, or storage:NAME for each repository storage'),
    ['data'],
  ).action(adopt);
