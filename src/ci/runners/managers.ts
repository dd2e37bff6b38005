import type { Selectable } from 'kysely';
import type { Static } from 'typebox';
import type { Reader } from '../../platform/db/open.ts';
import type { RunnerManagersTable } from '../../platform/db/schema/runners.ts';
import { notFound } from '../../platform/errors.ts';
import type { Call } from '../../core/access/call.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { getRunnerStatus } from '../jobs/runner_json.ts';
import { formatTime } from '../../platform/time.ts';
import type { RunnerRow } from './rules.ts';

export const managerShape = object({
  system_id: string,
  version: nullable(string),
  revision: nullable(string),
  platform: nullable(string),
  architecture: nullable(string),
  executor: nullable(string),
  ip_address: nullable(string),
  status: string,
  contacted_at: timestamp,
  created_at: timestamp,
});

type ManagerRow = Selectable<RunnerManagersTable>;

export const managerJson = (row: ManagerRow, now: number): Static<typeof managerShape> => ({
  system_id: row.system_id,
  version: row.version,
  revision: row.revision,
  platform: row.platform,
  architecture: row.architecture,
  executor: row.executor,
  ip_address: row.ip_address,
  status: getRunnerStatus(row, now),
  contacted_at: formatTime(row.contacted_at),
  created_at: formatTime(row.created_at),
});

/** Lists the machines that share a runner's token, the latest contact first. */
export const listManagers = async (
  db: Reader,
  runnerId: number,
  { limit, offset }: PageRequest,
): Promise<Page<ManagerRow>> => {
  const query = db.selectFrom('runner_managers').where('runner_id', '=', runnerId);
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const items = await query
    .selectAll()
    .orderBy('contacted_at', 'desc')
    .orderBy('system_id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

/** @throws Failure 404 for an unknown machine */
export const deleteManager = async (call: Call, { id }: RunnerRow, system_id: string): Promise<void> =>
  await call.write(async ({ db }) => {
    const { numDeletedRows } = await db
      .deleteFrom('runner_managers')
      .where('runner_id', '=', id)
      .where('system_id', '=', system_id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound('Runner manager');
  });
