import { type Call, userOf } from '../access/call.ts';
import { invalid } from '../errors.ts';
import type { Code } from '../repository/code.ts';
import { createPipeline } from './create.ts';
import type { FoundPipeline } from './find.ts';
import { readInputs, withInputs } from './given_inputs.ts';
import { readGiven } from './given_variables.ts';
import { namedRef } from './named_ref.ts';

type Asked = {
  ref: string;
  /** As they were sent. */
  variables?: unknown;
  inputs?: unknown;
  source: 'api' | 'web';
};

/**
 * A pipeline that somebody asks for.
 * @throws Failure 400 for a ref that is none, or why there is no pipeline
 */
export const createFor = async (
  call: Call,
  { project, repository }: Code,
  { ref, variables: given, inputs, source }: Asked,
): Promise<FoundPipeline> => {
  const variables = readGiven(given);
  const ofConfig = withInputs(project, readInputs(inputs));
  const named = await namedRef(repository, ref);
  if (named === null) throw invalid({ base: ['Reference not found'] });
  const created = await createPipeline(call.platform, {
    project,
    ...named,
    ...ofConfig,
    source,
    user_id: userOf(call).id,
    variables,
    skippable: false,
    keepsFaulty: false,
  });
  if ('refused' in created) throw invalid({ base: [created.refused] });
  return { pipeline: created.pipeline, project };
};
