import type { Command } from 'commander';
import { group } from './define_commands.ts';
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
