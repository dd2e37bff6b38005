import type { Call } from '../../../core/access/call.ts';
import {
  anything,
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../../platform/http/schema.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { shownStatus } from '../../../code/repository/statuses/pipeline_summary.ts';
import { formatTime, formatTimeOrNull } from '../../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../../identity/users/json.ts';
import { pipelinesOfProject } from '../find.ts';
import type { PipelineVariable } from '../creation/pipeline_variables.ts';
import { parseStoredInputs } from './inputs.ts';
import type { Schedule } from './queries.ts';
import { canEditSchedule } from './rights.ts';
import { loadScheduleVariables } from './variables.ts';

export const scheduleShape = object({
  id: int,
  description: string,
  ref: string,
  cron: string,
  cron_timezone: string,
  next_run_at: nullable(timestamp),
  active: bool,
  created_at: timestamp,
  updated_at: timestamp,
  owner: nullable(basicUserShape),
});

export const scheduleVariableShape = object({ key: string, variable_type: string, value: string, raw: bool });

/** A single schedule: with its last pipeline, and with variables for users who can edit them. */
export const singleScheduleShape = object({
  ...scheduleShape.properties,
  last_pipeline: nullable(object({ id: int, sha: string, ref: string, status: string })),
  variables: optional(array(scheduleVariableShape)),
  inputs: optional(array(object({ name: string, value: anything }))),
});

export const scheduleVariableJson = ({ key, variable_type, value, raw }: PipelineVariable) => ({
  key,
  variable_type,
  value,
  raw,
});

const inputsJson = (row: Schedule) =>
  Object.entries(parseStoredInputs(row) ?? {}).map(([name, value]) => ({ name, value }));

export const schedulesJson = async (call: Call, rows: readonly Schedule[]) => {
  const owners = await basicUsersById(
    call.db,
    rows.map(({ owner_id }) => owner_id).filter((id) => id !== null),
  );
  return rows.map((row) => {
    const owner = owners.get(row.owner_id ?? 0);
    return {
      id: row.id,
      description: row.description,
      ref: row.ref,
      cron: row.cron,
      cron_timezone: row.cron_timezone,
      next_run_at: formatTimeOrNull(row.next_run_at),
      active: row.active === 1,
      created_at: formatTime(row.created_at),
      updated_at: formatTime(row.updated_at),
      owner: owner === undefined ? null : basicUser(owner, call),
    };
  });
};

const loadLastPipeline = async (call: Call, { project_id, last_pipeline_id }: Schedule) => {
  const row =
    last_pipeline_id === null ? null : await pipelinesOfProject(call.db, project_id, last_pipeline_id);
  return row === null
    ? null
    : { id: row.id, sha: row.sha, ref: row.ref, status: shownStatus(row.status) as string };
};

export const singleScheduleJson = async (call: Call, project: Project, row: Schedule) => {
  const [json] = await schedulesJson(call, [row]);
  const variables = canEditSchedule(call, project, row)
    ? await loadScheduleVariables(call.platform, call.db, row.id)
    : undefined;
  return {
    ...json,
    last_pipeline: await loadLastPipeline(call, row),
    ...(variables && { variables: variables.map(scheduleVariableJson), inputs: inputsJson(row) }),
  };
};
