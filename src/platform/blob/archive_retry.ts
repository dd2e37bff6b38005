/** Archives finished logs again that the bucket refused. */
import { type Parts, archive } from './append_rows.ts';
import { markWaiting, listWaitingFiles } from './piece_rows.ts';

/** Logs per round. */
const maxLogsPerRound = 500;

/**
 * Retries waiting logs, longest wait first. A failure ends the round, and the failed log moves to the end of the
 * queue. So neither an unreachable bucket nor one refused log causes constant retries.
 */
export const archiveWaitingFiles = async (parts: Parts): Promise<void> => {
  const { store } = parts;
  for (const whole of await listWaitingFiles(store.db, maxLogsPerRound)) {
    const of = { id: whole.job_id, project_id: whole.project_id, trace_key: null };
    try {
      if (await archive(parts, of, whole)) continue;
      await store.write(async (tx) => await markWaiting(tx, of));
    } catch (error) {
      parts.onFailure(error, of);
      await store.write(async (tx) => await markWaiting(tx, of));
      return;
    }
  }
};
