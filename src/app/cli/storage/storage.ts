/** `gantry storage`: lists repository storages and moves repositories between them. */
import type { Command } from 'commander';
import { group } from '../define_commands.ts';
import { listCommand } from './list.ts';
import { moveCommand } from './move.ts';

export const storageCommand = (): Command =>
  group(
    'storage',
    {
      summary: 'List repository storages, and move repositories between them.',
      examples: ['gantry storage list', 'gantry storage move --project team/site --to fast'],
    },
    [listCommand(), moveCommand()],
  );
