import type { Call } from '../access/call.ts';
import { requireRefRight } from './act.ts';
import { type FoundPipeline, findPipeline } from './find.ts';

/**
 * The pipeline whose jobs the caller is to run or end.
 * @throws Failure as `findPipeline`; 403 where its branch or tag is protected from him
 */
export const findPipelineToChange = async (
  call: Call,
  projectId: number | string,
  id: number,
): Promise<FoundPipeline> => {
  const found = await findPipeline(call, projectId, id, 'update_job');
  await requireRefRight(call, found);
  return found;
};
