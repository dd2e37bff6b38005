import type { Selectable } from 'kysely';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { PipelineSchedulesTable } from '../../../platform/db/schema/ci.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { PipelineRow } from '../../../code/repository/statuses/pipeline_summary.ts';

export type Schedule = Selectable<PipelineSchedulesTable>;

export const listSchedules = async (
  db: Reader,
  projectId: number,
  scope: 'active' | 'inactive' | undefined,
  { limit, offset }: PageRequest,
): Promise<Page<Schedule>> => {
  let query = db.selectFrom('pipeline_schedules').where('project_id', '=', projectId);
  if (scope !== undefined) query = query.where('active', '=', scope === 'active' ? 1 : 0);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Lists the pipelines that a schedule created. */
export const listSchedulePipelines = async (
  db: Reader,
  scheduleId: number,
  sort: 'asc' | 'desc',
  { limit, offset }: PageRequest,
): Promise<Page<PipelineRow>> => {
  const query = db.selectFrom('pipelines').where('schedule_id', '=', scheduleId);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id', sort).limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** @throws Failure 404 */
export const findSchedule = async (db: Reader, projectId: number, id: number): Promise<Schedule> => {
  const row = await db
    .selectFrom('pipeline_schedules')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Pipeline Schedule');
  return row;
};

/** Like `findSchedule`, with a row lock until the transaction ends. */
export const lockSchedule = async (tx: Tx, projectId: number, id: number): Promise<Schedule> => {
  const row = await tx.db
    .selectFrom('pipeline_schedules')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Pipeline Schedule');
  return row;
};
