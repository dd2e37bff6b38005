/** Background work that removes files. It waits while a backup runs. */
import { jobFileDeletionWork } from '../../ci/pipelines/enqueue_job_file_deletion.ts';
import type { Platform } from '../../core/platform.ts';
import { removeAvatarWork } from '../../identity/avatars/store_avatar.ts';
import { removeCopyWork } from '../../code/repository/moves/move_repository.ts';
import type { Reader } from '../../platform/db/open.ts';
import { unavailable } from '../../platform/errors.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';

export const removalWork = ['purge_project', jobFileDeletionWork, removeAvatarWork, removeCopyWork];

export const isBackupRunning = async (db: Reader, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('backups')
    .select('id')
    .where('held_until', '>', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

type Handlers = { [name: string]: WorkHandler };

/** Wraps the handlers that remove files. While a backup runs, they fail as in an outage and run again later. */
export const holdRemovals = ({ store, clock }: Platform, handlers: Handlers): Handlers => {
  const hold =
    (handler: WorkHandler): WorkHandler =>
    async (payload, workRun) => {
      if (await isBackupRunning(store.db, clock.now()))
        throw new Error('a backup is running', { cause: unavailable() });
      await handler(payload, workRun);
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      removalWork.includes(name) ? hold(handler) : handler,
    ]),
  );
};
