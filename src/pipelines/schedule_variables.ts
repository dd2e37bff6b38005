/** Variables that every pipeline of a schedule gets. Their values are sealed, and shown to who may change them. */
import { type Call, type Platform, actorOf } from '../access/call.ts';
import { seal, unseal } from '../access/seal.ts';
import type { Reader, Tx } from '../db/open.ts';
import { invalid, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { type GivenVariable, givenProblems } from './given_variables.ts';
import { type Schedule, lockSchedule } from './schedule_queries.ts';

const purpose = 'schedule variable';

/** By key. */
export const scheduleVariables = async (
  { secrets }: Platform,
  db: Reader,
  scheduleId: number,
): Promise<GivenVariable[]> => {
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

const check = (variables: readonly GivenVariable[]): void => {
  const problems = givenProblems(variables);
  if (problems.length > 0) throw invalid({ variables: problems });
};

const sealed = ({ secrets }: Platform, { value, variable_type, raw }: GivenVariable) => ({
  sealed_value: seal(secrets.encryption_key, purpose, value),
  variable_type,
  raw: raw ? (1 as const) : (0 as const),
});

const note = async (call: Call, tx: Tx, { id, project_id }: Schedule, change: object): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind: 'pipeline_schedule.variable_changed',
    project_id,
    target_type: 'PipelineSchedule',
    target_id: id,
    data: change,
  });

/** @throws Failure 400 for what may not be, or a key that is there */
export const addScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  variable: GivenVariable,
): Promise<GivenVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const others = await scheduleVariables(call.platform, tx.db, id);
    if (others.some(({ key }) => key === variable.key)) throw invalid({ key: ['has already been taken'] });
    check([...others, variable]);
    const row = { schedule_id: id, key: variable.key, ...sealed(call.platform, variable) };
    await tx.db.insertInto('pipeline_schedule_variables').values(row).execute();
    await note(call, tx, schedule, { created: variable.key });
    return variable;
  });

const find = (all: readonly GivenVariable[], key: string): GivenVariable => {
  const found = all.find((one) => one.key === key);
  if (found === undefined) throw notFound('Variable');
  return found;
};

export type VariableEdit = Partial<Omit<GivenVariable, 'key'>>;

/** @throws Failure 404, 400 for what may not be */
export const editScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  { key, ...edit }: VariableEdit & { key: string },
): Promise<GivenVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const all = await scheduleVariables(call.platform, tx.db, id);
    const variable = { ...find(all, key), ...edit };
    check(all.map((one) => (one.key === key ? variable : one)));
    await tx.db
      .updateTable('pipeline_schedule_variables')
      .set(sealed(call.platform, variable))
      .where('schedule_id', '=', id)
      .where('key', '=', key)
      .execute();
    await note(call, tx, schedule, { updated: key });
    return variable;
  });

/** @throws Failure 404 */
export const removeScheduleVariable = async (
  call: Call,
  { project_id, id }: Schedule,
  key: string,
): Promise<GivenVariable> =>
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    const variable = find(await scheduleVariables(call.platform, tx.db, id), key);
    await tx.db
      .deleteFrom('pipeline_schedule_variables')
      .where('schedule_id', '=', id)
      .where('key', '=', key)
      .execute();
    await note(call, tx, schedule, { deleted: key });
    return variable;
  });
