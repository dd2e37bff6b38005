/** Variables of a schedule's pipelines. Values are sealed, and shown only to users who can edit them. */
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { seal, unseal } from '../../../core/access/credentials/encrypt_secrets.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { type PipelineVariable, findVariableProblems } from '../creation/pipeline_variables.ts';
import { type Schedule, lockSchedule } from './queries.ts';

const purpose = 'schedule variable';

/** Loads the variables of a schedule, ordered by key. */
export const loadScheduleVariables = async (
  { secrets }: Platform,
  db: Reader,
  scheduleId: number,
): Promise<PipelineVariable[]> => {
  const rows = await db
    .selectFrom('pipeline_schedule_variables')
    .select(['key', 'sealed_value', 'variable_type', 'raw'])
    .where('schedule_id', '=', scheduleId)
    .orderBy('key')
    .execute();
  return rows.map(({ key, sealed_value, variable_type, raw }) => ({
    key,
    value: unseal(secrets.encryption_key, purpose, sealed_value),
    variable_type,
    raw: raw === 1,
  }));
};

const validateVariables = (variables: readonly PipelineVariable[]): void => {
  const problems = findVariableProblems(variables);
  if (problems.length > 0) throw invalid({ variables: problems });
};

const toSealedColumns = ({ secrets }: Platform, { value, variable_type, raw }: PipelineVariable) => ({
  sealed_value: seal(secrets.encryption_key, purpose, value),
  variable_type,
  raw: toFlag(raw),
});

const recordVariableEvent = async (
  call: Call,
  tx: Tx,
  { id, project_id }: Schedule,
  change: object,
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: 'pipeline_schedule.variable_changed',
    project_id,
    target_type: 'PipelineSchedule',
    target_id: id,
    data: change,
  });

/** @throws Failure 400 for invalid values, or a key that is taken */
export const addScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  variable: PipelineVariable,
): Promise<PipelineVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const others = await loadScheduleVariables(call.platform, tx.db, id);
    if (others.some(({ key }) => key === variable.key)) throw invalid({ key: ['has already been taken'] });
    validateVariables([...others, variable]);
    const row = { schedule_id: id, key: variable.key, ...toSealedColumns(call.platform, variable) };
    await tx.db.insertInto('pipeline_schedule_variables').values(row).execute();
    await recordVariableEvent(call, tx, schedule, { created: variable.key });
    return variable;
  });

const requireVariable = (variables: readonly PipelineVariable[], key: string): PipelineVariable => {
  const variable = variables.find((one) => one.key === key);
  if (variable === undefined) throw notFound('Variable');
  return variable;
};

export type VariableEdit = Partial<Omit<PipelineVariable, 'key'>>;

/** @throws Failure 404, 400 for invalid values */
export const editScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  { key, ...edit }: VariableEdit & { key: string },
): Promise<PipelineVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const variables = await loadScheduleVariables(call.platform, tx.db, id);
    const variable = { ...requireVariable(variables, key), ...edit };
    validateVariables(variables.map((one) => (one.key === key ? variable : one)));
    await tx.db
      .updateTable('pipeline_schedule_variables')
      .set(toSealedColumns(call.platform, variable))
      .where('schedule_id', '=', id)
      .where('key', '=', key)
      .execute();
    await recordVariableEvent(call, tx, schedule, { updated: key });
    return variable;
  });

/** @throws Failure 404 */
export const removeScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  key: string,
): Promise<PipelineVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const variable = requireVariable(await loadScheduleVariables(call.platform, tx.db, id), key);
    await tx.db
      .deleteFrom('pipeline_schedule_variables')
      .where('schedule_id', '=', id)
      .where('key', '=', key)
      .execute();
    await recordVariableEvent(call, tx, schedule, { deleted: key });
    return variable;
  });
