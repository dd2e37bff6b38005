/** Watches the status of jobs: one query a second for all watchers. */
import type { Platform } from '../../../core/platform.ts';
import type { JobRow } from '../../jobs/rows.ts';
import { jobColumns } from '../../jobs/rows.ts';

type StatusListener = (job: JobRow | null) => void;

type Watch = { heard: Map<number, Set<StatusListener>>; timer: NodeJS.Timeout };

const watches = new WeakMap<Platform, Watch>();
/** Milliseconds. */
const pause = 1_000;

const poll = async ({ store }: Platform, heard: Watch['heard']): Promise<void> => {
  const ids = [...heard.keys()];
  if (ids.length === 0) return;
  const rows = await store.db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const id of ids) {
    for (const listener of heard.get(id) ?? []) listener(byId.get(id) ?? null);
  }
};

const begin = (platform: Platform): Watch => {
  const listeners: Watch['heard'] = new Map();
  const again = (): void =>
    void poll(platform, listeners)
      .catch((error: unknown) => platform.log.warn({ err: error }, 'loading watched jobs failed'))
      .finally(() => timer.refresh());
  const timer = setTimeout(again, pause).unref();
  return { heard: listeners, timer };
};

/**
 * Calls back with the job's row about once a second, with null once the job is gone. Returns a function that stops
 * watching.
 */
export const watchJob = (platform: Platform, id: number, onStatus: StatusListener): (() => void) => {
  const watch = watches.get(platform) ?? begin(platform);
  watches.set(platform, watch);
  const others = watch.heard.get(id) ?? new Set();
  watch.heard.set(id, others.add(onStatus));
  return () => {
    others.delete(onStatus);
    if (others.size === 0) watch.heard.delete(id);
    if (watch.heard.size > 0) return;
    clearTimeout(watch.timer);
    watches.delete(platform);
  };
};
