/** `gantry backup`: makes, lists, verifies and restores backups. */
import type { Command } from 'commander';
import { group } from '../command_builders.ts';
import { activateCommand } from './activate.ts';
import { createCommand } from './create.ts';
import { listCommand } from './list.ts';
import { restoreCommand } from './restore.ts';
import { statusCommand } from './status.ts';
import { verifyCommand } from './verify.ts';

export const backupCommand = (): Command =>
  group(
    'backup',
    {
      summary: 'Create, list, verify and restore backups of the whole instance.',
      examples: [
        'gantry backup create --to /srv/backups',
        'gantry backup verify /srv/backups',
        'gantry backup restore /srv/backups --data /var/lib/gantry-new',
      ],
    },
    [createCommand(), statusCommand(), listCommand(), verifyCommand(), restoreCommand(), activateCommand()],
  );
