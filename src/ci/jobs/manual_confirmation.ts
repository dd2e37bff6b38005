/** Loads `manual_confirmation`, the question that pages show before a manual job is started. The API ignores it. */
import type { Reader } from '../../platform/db/open.ts';
import { selectJobById, loadJobConfig } from '../pipelines/pipeline_rows.ts';

/** @returns null if the job starts without a question */
export const loadConfirmation = async (db: Reader, jobId: number): Promise<string | null> => {
  const [job] = await selectJobById(db, { id: jobId });
  if (job?.run_when !== 'manual') return null;
  const text = (await loadJobConfig(db, job)).manual_confirmation?.trim() ?? '';
  return text === '' ? null : text;
};
