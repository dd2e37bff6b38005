import type { Platform } from '../../../core/platform.ts';
import { type WorkHandler, enqueue } from '../../../platform/queue/enqueue.ts';
import { moveRepository, removeCopy, removeCopyWork } from './move_repository.ts';
import { moveAllWork, moveWork, schedulePage } from './schedule_move.ts';

export const storageMoveWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [moveWork]: async (payload) => await moveRepository(platform, payload),
  [removeCopyWork]: async (payload) => await removeCopy(platform, payload),
  /** Schedules the moves of a storage's repositories, some at each run. */
  [moveAllWork]: async ({ source, destination, after }) => {
    const storages = platform.config.repository_storages.map(({ name }) => name);
    const named = typeof destination === 'string' ? destination : undefined;
    const page = { source: String(source), after: Number(after), storages, named };
    await platform.store.write(async (tx) => {
      const next = await schedulePage(tx, page);
      if (next === null) return;
      const nextPage = { source: page.source, destination: named ?? null, after: next };
      await enqueue(tx, moveAllWork, nextPage, { unique_key: `${moveAllWork} ${page.source}` });
    });
  },
});
