/** Jobs of one stage of a pipeline. */
import { type Call, requireUser } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import { badRequest } from '../../platform/errors.ts';
import type { LoadedPipeline } from '../pipelines/find.ts';
import { loadJobConfigs } from '../pipelines/pipeline_rows.ts';
import { requireVisibleRequest } from '../pipelines/creation/require_visible_merge_request.ts';
import { playJobs } from '../pipelines/processing/job_transitions.ts';
import { type JobRow, jobColumns } from './rows.ts';

/** Jobs of a stage that a page shows. */
const maxShown = 200;

/** Loads the jobs of a stage, including retried jobs, oldest first. */
export const loadStageJobs = async (
  db: Reader,
  { pipeline_id, stage_position }: Pick<JobRow, 'pipeline_id' | 'stage_position'>,
): Promise<JobRow[]> =>
  await db
    .selectFrom('jobs')
    .select(jobColumns)
    .where('pipeline_id', '=', pipeline_id)
    .where('stage_position', '=', stage_position)
    .orderBy('id')
    .limit(maxShown)
    .execute();

export type ManualJob = {
  id: number;
  name: string;
  /** The question before it starts; null: none. */
  question: string | null;
};

/** Lists the jobs of a stage that wait for a manual start. */
export const listManualJobs = async (
  db: Reader,
  pipelineId: number,
  stagePosition: number,
): Promise<ManualJob[]> => {
  const jobs = await db
    .selectFrom('jobs')
    .select(['id', 'name', 'config_id'])
    .where('pipeline_id', '=', pipelineId)
    .where('stage_position', '=', stagePosition)
    .where('retried', '=', 0)
    .where('status', '=', 'manual')
    .orderBy('id')
    .execute();
  const configs = await loadJobConfigs(db, jobs);
  return jobs.map(({ id, name, config_id }) => {
    const question = configs.get(config_id)?.manual_confirmation?.trim() ?? '';
    return { id, name, question: question === '' ? null : question };
  });
};

/**
 * Starts the manual jobs of a stage. The caller has authorized the change of the pipeline.
 * @throws Failure 400 if none waits, 403 if the merge request is hidden
 */
export const playStage = async (
  call: Call,
  { pipeline }: LoadedPipeline,
  stagePosition: number,
): Promise<number> => {
  const user = requireUser(call);
  await requireVisibleRequest(call, pipeline.id);
  const jobs = await listManualJobs(call.db, pipeline.id, stagePosition);
  return await call.write(async (tx) => {
    const ids = jobs.map(({ id }) => id);
    const count = await playJobs(tx, pipeline.id, { ids, user_id: user.id });
    if (count === 0) throw badRequest('No job of this stage waits for a start');
    return count;
  });
};
