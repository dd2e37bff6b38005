/** Loads the last pipelines of commits for pages. Anonymous visitors see their status, without a link: pipelines need an account. */
import { loadLastPipelines } from '../../../../code/repository/statuses/last_pipelines.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import type { Oid } from '../../../../platform/git/protocol_types.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';

export const loadShownPipelines = async (
  { call }: Pick<Visit, 'call'>,
  project: Project,
  shas: readonly Oid[],
): Promise<ReadonlyMap<Oid, PipelineRow & { isLinked: boolean }>> => {
  const pipelines = await loadLastPipelines(call, project, shas);
  return new Map([...pipelines].map(([sha, row]) => [sha, { ...row, isLinked: call.signedIn }]));
};
