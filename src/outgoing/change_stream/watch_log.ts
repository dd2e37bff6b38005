/**
 * Calls back when changes were recorded, in this process or in another process. Other processes notify only while
 * somebody watches: `changes_read_until` is the end of that time.
 */
import type { Platform } from '../../core/platform.ts';
import { readUntilName, recordedTopic } from '../../core/events/record_event.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

/** Milliseconds. After a process dies, others keep notifying for this time. */
const lease = 120_000;
const renewInterval = 30_000;

type Hub = { watchers: Set<() => void>; renewal: NodeJS.Timeout | null; end: () => void };

const getHub = memoizePerStore((_platform: Platform): Hub => ({
  watchers: new Set(),
  renewal: null,
  end: () => undefined,
}));

const renewLease = async ({ store }: Platform): Promise<void> => {
  if (store.file !== null) return; // SQLite serves one process
  await store.write(async ({ db, now }) => {
    await db
      .updateTable('instance')
      .set({ value: String(now + lease) })
      .where('name', '=', readUntilName)
      .execute();
  });
};

/**
 * Begins to watch; reads that follow miss nothing that is committed later.
 * @returns what ends it
 */
export const watchLog = async (platform: Platform, onChange: () => void): Promise<() => void> => {
  const hub = getHub(platform);
  const callAll = (): void => {
    for (const watcher of hub.watchers) watcher();
  };
  const renew = (): void => {
    const failed = (error: unknown): void =>
      platform.log.warn({ err: error }, 'other processes may not report their changes');
    void renewLease(platform).then(callAll, failed);
  };
  hub.watchers.add(onChange);
  if (hub.renewal === null) {
    hub.renewal = setInterval(renew, renewInterval).unref();
    hub.end = platform.store.listen(recordedTopic, callAll);
  }
  await renewLease(platform);
  return () => {
    hub.watchers.delete(onChange);
    if (hub.watchers.size > 0 || hub.renewal === null) return;
    clearInterval(hub.renewal);
    hub.renewal = null;
    hub.end();
  };
};
