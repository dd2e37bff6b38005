import type { Site } from '../../core/access/site.ts';
import { bool, object, string } from '../../platform/http/schema.ts';
import {
  type PipelineRow,
  briefPipelineJson,
  briefPipelineShape,
} from '../../code/repository/statuses/pipeline_summary.ts';
import type { PipelineVariable } from './creation/pipeline_variables.ts';

/** A pipeline in a list. */
export const pipelineShape = briefPipelineShape;

export const pipelineJson = (
  row: PipelineRow,
  project: { full_path: string },
  { baseUrl }: Pick<Site, 'baseUrl'>,
) => briefPipelineJson(row, { baseUrl, full_path: project.full_path });

export const pipelineVariableShape = object({ variable_type: string, key: string, value: string, raw: bool });

export const pipelineVariableJson = ({ variable_type, key, value, raw }: PipelineVariable) => ({
  variable_type,
  key,
  value,
  raw,
});
