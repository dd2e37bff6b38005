import type { Command } from 'commander';
import { endQuiet } from '../../service/quiet.ts';
import { action } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { addSettings } from '../setting_options.ts';
import { withStore } from '../with_store.ts';
import type { Options } from './command_helpers.ts';

const activate = async (options: Options): Promise<void> => {
  const { config } = readDataSettings(options);
  const wasQuiet = await withStore(config, endQuiet);
  const text = wasQuiet
    ? 'The instance sends mail and webhooks, also what has waited, and runs schedules from the next start of the service on.'
    : 'The instance was not restored with --quiet.';
  print(options, { activated: wasQuiet }, text);
};

export const activateCommand = (): Command =>
  addSettings(
    action('activate', {
      summary:
        'End the quiet of an instance that was restored with --quiet, because it takes the place of the original.',
      examples: ['gantry backup activate --data /srv/copy'],
    }),
    ['data'],
  ).action(activate);
