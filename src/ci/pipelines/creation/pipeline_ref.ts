import type { MergeRequestFacts, PipelineRef } from '../predefined_variables/pipeline_predefined.ts';
import type { Pipeline } from '../pipeline_rows.ts';

/**
 * Returns the branch, tag or merge request that a pipeline runs for.
 * @param request the merge request, if it still exists; its source branch becomes the name
 */
export const pipelineRef = (
  { tag, ref, source, merge_request_id }: Pick<Pipeline, 'tag' | 'ref' | 'source' | 'merge_request_id'>,
  request: MergeRequestFacts | null,
): PipelineRef => {
  if (tag === 1) return { name: ref, type: 'tag' };
  const isOfRequest = source === 'merge_request_event' || merge_request_id !== null;
  if (!isOfRequest && !ref.startsWith('refs/')) return { name: ref, type: 'branch' };
  return { name: request?.source_branch ?? ref, type: 'merge_request' };
};
