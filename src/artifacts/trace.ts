import type { State } from '../blob/append_files.ts';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';

const setTrace = compiled((db, given: { id: number; size: number | null; crc: number | null }) =>
  db
    .updateTable('jobs')
    .set({ trace_size: given.size, trace_crc: given.crc })
    .where('id', '=', given.id)
    .compile(),
);

/** Says in the row of a job how long its trace is; its bytes were put on disk before. null: there is none. */
export const noteTrace = async ({ db }: Tx, jobId: number, finished: State | null): Promise<void> => {
  await setTrace(db, { id: jobId, size: finished?.size ?? null, crc: finished?.crc ?? null });
};
