/**
 * A pipeline for who brings a trigger's token. The token of a job starts none: it would carry what somebody's branch
 * runs, in the name of whoever started it, to refs and variables that are protected from that branch.
 */
import type { Call } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { invalid, notFound, refused } from '../errors.ts';
import { type Project, anyProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import type { PipelineRow } from '../repository/pipeline_brief.ts';
import { createPipeline } from './create.ts';
import { readInputs, withInputs } from './given_inputs.ts';
import { type GivenVariable, readGiven } from './given_variables.ts';
import { namedRef } from './named_ref.ts';
import { triggerOfToken } from './triggers.ts';

export type Wanted = {
  id: number | string;
  ref: string;
  token: string;
  variables?: unknown;
  inputs?: unknown;
};

const isMap = (sent: unknown): sent is Record<string, string> =>
  typeof sent === 'object' &&
  sent !== null &&
  !Array.isArray(sent) &&
  Object.values(sent).every((value) => typeof value === 'string');

const variablesOf = (sent: unknown): GivenVariable[] => {
  if (sent === undefined || sent === null || sent === '') return [];
  if (!isMap(sent)) throw refused('variables needs to be a map of key-valued strings');
  return readGiven(Object.entries(sent).map(([key, value]) => ({ key, value })));
};

const noteUse = async ({ db, now }: Tx, triggerId: number): Promise<void> => {
  await db.updateTable('triggers').set({ last_used_at: now }).where('id', '=', triggerId).execute();
};

/**
 * To who has no right token, no project is there.
 * @throws Failure 404; 400 for variables that may not be, or why there is no pipeline
 */
export const runTrigger = async (
  call: Call,
  { id, ref, token, variables, inputs }: Wanted,
): Promise<{ pipeline: PipelineRow; project: Project }> => {
  const project = await anyProject(call, id);
  const trigger = project === null ? null : await triggerOfToken(call.db, project.id, token);
  if (project === null || trigger === null) throw notFound();
  const given = variablesOf(variables);
  const ofConfig = withInputs(project, readInputs(inputs));
  const named = await namedRef(repositoryOf(call.platform, project), ref);
  if (named === null) throw invalid({ base: ['Reference not found'] });
  const created = await createPipeline(call.platform, {
    project,
    ...named,
    ...ofConfig,
    source: 'trigger',
    user_id: trigger.owner_id,
    variables: given,
    skippable: false,
    keepsFaulty: false,
    created: async (tx) => await noteUse(tx, trigger.id),
  });
  if ('refused' in created) throw invalid({ base: [created.refused] });
  return { pipeline: created.pipeline, project };
};
