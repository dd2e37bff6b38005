/**
 * Starts a pipeline for a trigger token. Job tokens are not accepted: a job on an unprotected branch could then start
 * pipelines on protected refs with the permissions of the user who started it.
 */
import type { Call } from '../../../core/access/call.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { invalid, notFound, refused } from '../../../platform/errors.ts';
import { type Project, anyProject } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { PipelineRow } from '../../../code/repository/statuses/pipeline_summary.ts';
import { createPipeline } from '../creation/create_pipeline.ts';
import { parseInputs, toConfigWithInputs } from '../creation/inputs.ts';
import { type PipelineVariable, parsePipelineVariables } from '../creation/pipeline_variables.ts';
import { resolveNamedRef } from '../creation/named_ref.ts';
import { findTriggerByToken } from './find_and_change_triggers.ts';

export type TriggerRunInput = {
  id: number | string;
  ref: string;
  token: string;
  variables?: unknown;
  inputs?: unknown;
};

const isStringMap = (raw: unknown): raw is Record<string, string> =>
  typeof raw === 'object' &&
  raw !== null &&
  !Array.isArray(raw) &&
  Object.values(raw).every((value) => typeof value === 'string');

const parseVariables = (raw: unknown): PipelineVariable[] => {
  if (raw === undefined || raw === null || raw === '') return [];
  if (!isStringMap(raw)) throw refused('variables needs to be a map of key-valued strings');
  return parsePipelineVariables(Object.entries(raw).map(([key, value]) => ({ key, value })));
};

const recordUse = async ({ db, now }: Tx, triggerId: number): Promise<void> => {
  await db.updateTable('triggers').set({ last_used_at: now }).where('id', '=', triggerId).execute();
};

/**
 * Starts a pipeline on behalf of the trigger's owner.
 * @throws Failure 404 for a wrong token or project; 400 for invalid variables, or with the reason for no pipeline
 */
export const runTrigger = async (
  call: Call,
  { id, ref, token, variables, inputs }: TriggerRunInput,
): Promise<{ pipeline: PipelineRow; project: Project }> => {
  const project = await anyProject(call, id);
  const trigger = project === null ? null : await findTriggerByToken(call.db, project.id, token);
  if (project === null || trigger === null) throw notFound();
  const parsedVariables = parseVariables(variables);
  const config = toConfigWithInputs(project, parseInputs(inputs));
  const namedRef = await resolveNamedRef(getRepository(call.platform, project), ref);
  if (namedRef === null) throw invalid({ base: ['Reference not found'] });
  const created = await createPipeline(call.platform, {
    project,
    ...namedRef,
    ...config,
    source: 'trigger',
    user_id: trigger.owner_id,
    variables: parsedVariables,
    obeysSkipMessage: false,
    storesInvalid: false,
    onCreated: async (tx) => await recordUse(tx, trigger.id),
  });
  if ('refused' in created) throw invalid({ base: [created.refused] });
  return { pipeline: created.pipeline, project };
};
