/** Retries archiving of finished logs whose upload failed. */
import { type Parts, archive } from './append_rows.ts';
import { markWaiting, listWaitingFiles } from './append_file_rows.ts';

const maxLogsPerRound = 500;

/**
 * Retries waiting logs, longest wait first. An error ends the round and moves the log to the end of the queue. This
 * way, an unreachable bucket costs one attempt per round, and one bad log does not block the others.
 */
export const archiveWaitingFiles = async (parts: Parts): Promise<void> => {
  const { store } = parts;
  for (const whole of await listWaitingFiles(store.db, maxLogsPerRound)) {
    const file = { id: whole.job_id, project_id: whole.project_id, trace_key: null };
    try {
      if (await archive(parts, file, whole)) continue;
      await store.write(async (tx) => await markWaiting(tx, file));
    } catch (error) {
      parts.onFailure(error, file);
      await store.write(async (tx) => await markWaiting(tx, file));
      return;
    }
  }
};
