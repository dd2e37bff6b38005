/** Schedules are made, edited, taken over and deleted. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import { requireRoom } from '../db/room.ts';
import { type Problems, invalid } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { Project } from '../projects/find.ts';
import { holdProject } from '../projects/hold.ts';
import { cronProblems, nextRun } from './cron.ts';
import { type Schedule, lockSchedule } from './schedule_queries.ts';
import { requireRef } from './schedule_rights.ts';
import { comeBack } from './schedule_work.ts';

export type ScheduleEdit = Partial<
  Pick<Schedule, 'description' | 'ref' | 'cron' | 'cron_timezone' | 'active'>
>;
type Values = Required<ScheduleEdit>;

const note = async (
  call: Call,
  tx: Tx,
  verb: string,
  { id, project_id, description }: Pick<Schedule, 'id' | 'project_id' | 'description'>,
): Promise<void> =>
  await recordEvent(tx, actorOf(call), {
    kind: `pipeline_schedule.${verb}`,
    project_id,
    target_type: 'PipelineSchedule',
    target_id: id,
    data: { description },
  });

const limit = { what: 'pipeline schedules', most: 1_000 };

/** @throws Failure 400 by attribute */
const check = async (values: Values, now: number): Promise<void> => {
  const blank = (text: string): string[] => (text.trim() === '' ? ["can't be blank"] : []);
  const found: Problems = {
    description: blank(values.description),
    ref: blank(values.ref),
    ...(await cronProblems(values, now)),
  };
  const problems = Object.entries(found).filter(([, texts]) => texts.length > 0);
  if (problems.length > 0) throw invalid(Object.fromEntries(problems));
};

/** @throws Failure 400 for what may not be, 403 for a ref of which he may have no pipelines */
export const createSchedule = async (call: Call, project: Project, values: Values): Promise<Schedule> => {
  await check(values, call.now);
  await requireRef(call, project, values.ref);
  const next_run_at = await nextRun(values, call.now);
  return await call.write(async (tx) => {
    await holdProject(tx, project.id);
    await requireRoom(tx.db.selectFrom('pipeline_schedules').where('project_id', '=', project.id), limit);
    const row = {
      ...values,
      project_id: project.id,
      owner_id: userOf(call).id,
      next_run_at,
      last_pipeline_id: null,
      created_at: tx.now,
      updated_at: tx.now,
    };
    const schedule = { ...row, id: await insertRow(tx.db, 'pipeline_schedules', row) };
    await comeBack(tx, schedule);
    await note(call, tx, 'created', schedule);
    return schedule;
  });
};

/** @throws Failure as `createSchedule` */
export const updateSchedule = async (
  call: Call,
  project: Project,
  before: Schedule,
  edit: ScheduleEdit,
): Promise<Schedule> => {
  const { description, ref, cron, cron_timezone, active } = { ...before, ...edit };
  const values = { description, ref, cron, cron_timezone, active };
  await check(values, call.now);
  if (ref !== before.ref) await requireRef(call, project, ref);
  const changed = { ...values, next_run_at: await nextRun(values, call.now) };
  return await call.write(async (tx) => {
    const schedule = { ...(await lockSchedule(tx, project.id, before.id)), ...changed, updated_at: tx.now };
    await tx.db
      .updateTable('pipeline_schedules')
      .set({ ...changed, updated_at: tx.now })
      .where('id', '=', before.id)
      .execute();
    await comeBack(tx, schedule);
    await note(call, tx, 'updated', schedule);
    return schedule;
  });
};

/** Its pipelines run with the rights of the caller from now on. */
export const takeOver = async (call: Call, { project_id, id }: Schedule): Promise<Schedule> =>
  await call.write(async (tx) => {
    const changed = { owner_id: userOf(call).id, updated_at: tx.now };
    const schedule = { ...(await lockSchedule(tx, project_id, id)), ...changed };
    await tx.db.updateTable('pipeline_schedules').set(changed).where('id', '=', id).execute();
    await note(call, tx, 'taken_over', schedule);
    return schedule;
  });

export const deleteSchedule = async (call: Call, { project_id, id }: Schedule): Promise<void> => {
  await call.write(async (tx) => {
    const schedule = await lockSchedule(tx, project_id, id);
    await tx.db.deleteFrom('pipeline_schedules').where('id', '=', id).execute();
    await note(call, tx, 'deleted', schedule);
  });
};
