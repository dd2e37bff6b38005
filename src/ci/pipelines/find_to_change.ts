import type { Call } from '../../core/access/call.ts';
import { requireRunOnRef } from './user_actions.ts';
import { type LoadedPipeline, findPipeline } from './find.ts';

/**
 * Finds a pipeline whose jobs the caller wants to run or cancel.
 * @throws Failure as `findPipeline`; 403 if a protected branch or tag forbids it
 */
export const findPipelineToChange = async (
  call: Call,
  projectId: number | string,
  id: number,
): Promise<LoadedPipeline> => {
  const loaded = await findPipeline(call, projectId, id, 'update_job');
  await requireRunOnRef(call, loaded);
  return loaded;
};
