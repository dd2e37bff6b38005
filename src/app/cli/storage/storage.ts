/** `gantry storage`: repository storages, the moves between them, and the move of blobs to a bucket. */
import type { Command } from 'commander';
import { group } from '../command_builders.ts';
import { copyBlobsCommand } from './copy_blobs.ts';
import { listCommand } from './list.ts';
import { moveCommand } from './move.ts';

export const storageCommand = (): Command =>
  group(
    'storage',
    {
      summary: 'List repository storages, move repositories between them, and copy artifacts to a bucket.',
      examples: ['gantry storage list', 'gantry storage move --project team/site --to fast'],
    },
    [listCommand(), moveCommand(), copyBlobsCommand()],
  );
