/** Logs that the bucket did not take when they were finished: tried again until it does. */
import { type Parts, archive } from './append_rows.ts';
import { setWaiting, waitingWholes } from './piece_rows.ts';

/** Logs of one round. */
const most = 500;

/**
 * Tries those that wait, the longest first. After a failure the rest waits for the next round, and what failed behind
 * the rest: neither a store that is away nor one log that it refuses keeps it busy.
 */
export const archiveWaiting = async (parts: Parts): Promise<void> => {
  const { store } = parts;
  // oxlint-disable no-await-in-loop -- one log after another
  for (const whole of await waitingWholes(store.db, most)) {
    const of = { id: whole.job_id, project_id: whole.project_id };
    try {
      if (await archive(parts, of, whole)) continue;
      await store.write(async (tx) => await setWaiting(tx, of));
    } catch (error) {
      parts.onFailure(error, of);
      await store.write(async (tx) => await setWaiting(tx, of));
      return;
    }
  }
  // oxlint-enable no-await-in-loop
};
