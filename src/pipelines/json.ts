import type { Site } from '../access/call.ts';
import { bool, object, string } from '../http/schema.ts';
import { type PipelineRow, briefPipelineJson, briefPipelineShape } from '../repository/pipeline_brief.ts';
import type { GivenVariable } from './given_variables.ts';

/** A pipeline in a list. */
export const pipelineShape = briefPipelineShape;

export const pipelineJson = (
  row: PipelineRow,
  project: { full_path: string },
  { baseUrl }: Pick<Site, 'baseUrl'>,
) => briefPipelineJson(row, { baseUrl, full_path: project.full_path });

export const pipelineVariableShape = object({ variable_type: string, key: string, value: string, raw: bool });

export const pipelineVariableJson = ({ variable_type, key, value, raw }: GivenVariable) => ({
  variable_type,
  key,
  value,
  raw,
});
