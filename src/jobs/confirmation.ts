/** `manual_confirmation`: what somebody is asked before he starts a manual job by a page. Calls are not asked. */
import type { Reader } from '../db/open.ts';
import { jobById, jobConfigOf } from '../pipelines/store.ts';

/** @returns null: nothing is asked */
export const confirmationOf = async (db: Reader, jobId: number): Promise<string | null> => {
  const [job] = await jobById(db, { id: jobId });
  if (job?.run_when !== 'manual') return null;
  const text = (await jobConfigOf(db, job)).manual_confirmation?.trim() ?? '';
  return text === '' ? null : text;
};
