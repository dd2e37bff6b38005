import { type Call, requireUser } from '../../../core/access/call.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { createPipeline } from './create_pipeline.ts';
import type { LoadedPipeline } from '../find.ts';
import { parseInputs, toConfigWithInputs } from './inputs.ts';
import { parsePipelineVariables } from './pipeline_variables.ts';
import { resolveNamedRef } from './named_ref.ts';

type CallerRequest = {
  ref: string;
  /** Unparsed parameters. */
  variables?: unknown;
  inputs?: unknown;
  source: 'api' | 'web';
};

/**
 * Creates a pipeline for the signed-in caller.
 * @throws Failure 400 for an unknown ref, or with the reason why there is no pipeline
 */
export const createPipelineForCaller = async (
  call: Call,
  { project, repository }: Code,
  { ref, variables: rawVariables, inputs, source }: CallerRequest,
): Promise<LoadedPipeline> => {
  const variables = parsePipelineVariables(rawVariables);
  const configPart = toConfigWithInputs(project, parseInputs(inputs));
  const namedRef = await resolveNamedRef(repository, ref);
  if (namedRef === null) throw invalid({ base: ['Reference not found'] });
  const created = await createPipeline(call.platform, {
    project,
    ...namedRef,
    ...configPart,
    source,
    user_id: requireUser(call).id,
    variables,
    obeysSkipMessage: false,
    storesInvalid: false,
  });
  if ('refused' in created) throw invalid({ base: [created.refused] });
  return { pipeline: created.pipeline, project };
};
