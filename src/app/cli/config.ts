import type { Command } from 'commander';
import { group } from './command_builders.ts';
import { configShowCommand } from './config_show.ts';

export const configCommand = (): Command =>
  group(
    'config',
    {
      summary: 'Show the settings of the process.',
      examples: ['gantry config show', 'gantry config show --origin'],
    },
    [configShowCommand()],
  );
