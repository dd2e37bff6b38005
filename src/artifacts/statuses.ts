/** What becomes of jobs that somebody watches: one question a second for all of them. */
import type { Platform } from '../access/call.ts';
import type { JobRow } from '../jobs/rows.ts';
import { jobColumns } from '../jobs/rows.ts';

type Heard = (job: JobRow | null) => void;

type Watch = { heard: Map<number, Set<Heard>>; timer: NodeJS.Timeout };

const watches = new WeakMap<Platform, Watch>();
/** Milliseconds. */
const pause = 1_000;

const look = async ({ store }: Platform, heard: Watch['heard']): Promise<void> => {
  const ids = [...heard.keys()];
  if (ids.length === 0) return;
  const rows = await store.db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const id of ids) {
    for (const tell of heard.get(id) ?? []) tell(byId.get(id) ?? null);
  }
};

const begin = (platform: Platform): Watch => {
  const heard: Watch['heard'] = new Map();
  const again = (): void =>
    void look(platform, heard)
      .catch((error: unknown) => platform.log.warn({ err: error }, 'watched jobs were not looked for'))
      .finally(() => timer.refresh());
  const timer = setTimeout(again, pause).unref();
  return { heard, timer };
};

/** Calls back with the job's row, null once it is gone, about once a second. Answers what ends that. */
export const watchJob = (platform: Platform, id: number, tell: Heard): (() => void) => {
  const watch = watches.get(platform) ?? begin(platform);
  watches.set(platform, watch);
  const others = watch.heard.get(id) ?? new Set();
  watch.heard.set(id, others.add(tell));
  return () => {
    others.delete(tell);
    if (others.size === 0) watch.heard.delete(id);
    if (watch.heard.size > 0) return;
    clearTimeout(watch.timer);
    watches.delete(platform);
  };
};
