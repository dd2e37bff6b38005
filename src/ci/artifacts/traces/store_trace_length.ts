import type { State } from '../../../platform/blob/append_files.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';

const setTrace = compiled((db, input: { id: number; size: number | null; crc: number | null }) =>
  db
    .updateTable('jobs')
    .set({ trace_size: input.size, trace_crc: input.crc })
    .where('id', '=', input.id)
    .compile(),
);

/** Stores the length of a job's trace in its row; the bytes are on disk already. null if the job has no trace. */
export const storeTraceLength = async ({ db }: Tx, jobId: number, finished: State | null): Promise<void> => {
  await setTrace(db, { id: jobId, size: finished?.size ?? null, crc: finished?.crc ?? null });
};
