/** Creates, edits, takes over and deletes schedules. */
import { type Call, requireActor, requireUser } from '../../../core/access/call.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { requireRecordQuota } from '../../../platform/db/quota.ts';
import { type Problems, invalid } from '../../../platform/errors.ts';
import type { Checked } from '../../../platform/http/precondition.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { holdProject } from '../../../projects/projects/lock_project.ts';
import { findCronProblems, computeNextRun } from './cron.ts';
import { applyInputChanges, parseInputChanges } from './inputs.ts';
import { type Schedule, lockSchedule } from './queries.ts';
import { requireRunnableRef } from './rights.ts';
import { enqueueNextRun } from './work.ts';

export type ScheduleEdit = Partial<
  Pick<Schedule, 'description' | 'ref' | 'cron' | 'cron_timezone' | 'active'>
> & {
  /** Unparsed parameter. */
  inputs?: unknown;
};
type ScheduleValues = Required<Omit<ScheduleEdit, 'inputs'>>;

const recordScheduleEvent = async (
  call: Call,
  tx: Tx,
  verb: string,
  { id, project_id, description }: Pick<Schedule, 'id' | 'project_id' | 'description'>,
): Promise<void> =>
  await recordEvent(tx, requireActor(call), {
    kind: `pipeline_schedule.${verb}`,
    project_id,
    target_type: 'PipelineSchedule',
    target_id: id,
    data: { description },
  });

const quota = { what: 'pipeline schedules', most: 1_000 };

/** @throws Failure 400 by attribute */
const validateValues = async (values: ScheduleValues, now: number): Promise<void> => {
  const blank = (text: string): string[] => (text.trim() === '' ? ["can't be blank"] : []);
  const problemsByField: Problems = {
    description: blank(values.description),
    ref: blank(values.ref),
    ...(await findCronProblems(values, now)),
  };
  const problems = Object.entries(problemsByField).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};

/** @throws Failure 400 for invalid values, 403 for a ref on which the caller cannot create pipelines */
export const createSchedule = async (
  call: Call,
  project: Project,
  { inputs: rawInputs, ...values }: ScheduleValues & Pick<ScheduleEdit, 'inputs'>,
): Promise<Schedule> => {
  await validateValues(values, call.now);
  const inputs = applyInputChanges({ inputs: null }, parseInputChanges(rawInputs));
  await requireRunnableRef(call, project, values.ref);
  const next_run_at = await computeNextRun(values, call.now);
  return await call.write(async (tx) => {
    await holdProject(tx, project.id);
    await requireRecordQuota(
      tx.db.selectFrom('pipeline_schedules').where('project_id', '=', project.id),
      quota,
    );
    const row = {
      ...values,
      inputs,
      project_id: project.id,
      owner_id: requireUser(call).id,
      next_run_at,
      last_pipeline_id: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const schedule = { ...row, id: await insertRow(tx.db, 'pipeline_schedules', row) };
    await enqueueNextRun(tx, schedule);
    await recordScheduleEvent(call, tx, 'created', schedule);
    return schedule;
  });
};

/** @throws Failure as `createSchedule` */
export const updateSchedule = async (
  call: Call,
  project: Project,
  before: Schedule,
  { inputs: rawInputs, check, ...edit }: Checked<ScheduleEdit, Schedule>,
): Promise<Schedule> => {
  const { description, ref, cron, cron_timezone, active } = { ...before, ...edit };
  const values = { description, ref, cron, cron_timezone, active };
  await validateValues(values, call.now);
  const changes = parseInputChanges(rawInputs);
  if (ref !== before.ref) await requireRunnableRef(call, project, ref);
  const changed = { ...values, next_run_at: await computeNextRun(values, call.now) };
  return await call.write(async (tx) => {
    const locked = await lockSchedule(tx, project.id, before.id);
    check?.(locked);
    const set = { ...changed, inputs: applyInputChanges(locked, changes), updated_at: tx.now };
    const schedule = { ...locked, ...set };
    await tx.db.updateTable('pipeline_schedules').set(set).where('id', '=', before.id).execute();
    await enqueueNextRun(tx, schedule);
    await recordScheduleEvent(call, tx, 'updated', schedule);
    return schedule;
  });
};

/** Makes the caller the owner. Pipelines then run with the caller's permissions. */
export const takeOverSchedule = async (call: Call, { project_id, id }: Schedule): Promise<Schedule> =>
  await call.write(async (tx) => {
    const changed = { owner_id: requireUser(call).id, updated_at: tx.now };
    const schedule = { ...(await lockSchedule(tx, project_id, id)), ...changed };
    await tx.db.updateTable('pipeline_schedules').set(changed).where('id', '=', id).execute();
    await recordScheduleEvent(call, tx, 'taken_over', schedule);
    return schedule;
  });

export const deleteSchedule = async (call: Call, { project_id, id }: Schedule): Promise<void> => {
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    await tx.db.deleteFrom('pipeline_schedules').where('id', '=', id).execute();
    await recordScheduleEvent(call, tx, 'deleted', schedule);
  });
};
