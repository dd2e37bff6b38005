import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Store } from '../../../platform/db/open.ts';
import { StartFailure } from '../../../platform/errors.ts';
import {
  chooseDestination,
  enqueueMoveAll,
  scheduleMove,
} from '../../../code/repository/moves/schedule_move.ts';
import { anyProject } from '../../../projects/projects/find.ts';
import { type AdminOptions, adminAction } from '../admin/user.ts';
import { UsageFailure } from '../command_builders.ts';
import { print } from '../print_result.ts';
import { readDataSettings } from '../data_owner.ts';
import { withStore } from '../with_store.ts';

type Options = AdminOptions & { project?: string; allFrom?: string; to?: string; wait?: boolean };

/** Milliseconds between two looks at the state of a move. */
const waitPause = 250;

/** Waits until a service has ended the move. @throws StartFailure if it failed */
const untilEnded = async ({ db }: Store, id: number): Promise<void> => {
  for (;;) {
    const row = await db
      .selectFrom('repository_moves')
      .select(['state', 'error'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) throw new StartFailure('the project was removed meanwhile');
    if (row.state === 'failed') throw new StartFailure(`the move failed: ${row.error ?? ''}`);
    if (row.state === 'finished') return;
    await pause(waitPause);
  }
};

const moveOne = async (store: Store, path: string, storages: string[], options: Options): Promise<void> => {
  const project = await anyProject(store, path);
  if (project === null) throw new StartFailure(`project "${path}" not found`);
  const destination = { storages, named: options.to };
  const id = await store.write(async (tx) => await scheduleMove(tx, null, project, destination));
  if (options.wait !== true)
    return print(
      options,
      { id, state: 'scheduled' },
      `The move ${id} of ${path} is scheduled; the service does it.`,
    );
  await untilEnded(store, id);
  print(options, { id, state: 'finished' }, `${path} has moved.`);
};

const move = async (options: Options): Promise<void> => {
  const { project, allFrom, to } = options;
  if ((project === undefined) === (allFrom === undefined))
    throw new UsageFailure('name a project with --project, or a storage with --all-from');
  const { config } = readDataSettings(options);
  const storages = config.repository_storages.map(({ name }) => name);
  await withStore(config, async (store) => {
    if (project !== undefined) return await moveOne(store, project, storages, options);
    const source = allFrom ?? '';
    chooseDestination(source, { storages, named: to });
    await store.write(async (tx) => await enqueueMoveAll(tx, source, to ?? null));
    print(
      options,
      { source, state: 'scheduled' },
      `The moves of all projects in "${source}" are being scheduled; "gantry storage list" shows how many are left.`,
    );
  });
};

export const moveCommand = (): Command =>
  adminAction('move', {
    summary:
      'Move repositories to another storage. The running service does it; a repository is read-only for the last part of its move.',
    examples: [
      'gantry storage move --project team/site --to fast --wait',
      'gantry storage move --all-from default --to fast',
    ],
  })
    .option('--project <path>', 'full path of the project')
    .option('--all-from <storage>', 'all projects of a storage')
    .option('--to <storage>', 'a configured storage (without it: any other)')
    .option('--wait', 'wait until the project has moved')
    .action(move);
