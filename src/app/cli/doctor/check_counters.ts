/** Checks the counters of projects: the numbers of their issues, merge requests and stars. */
import { sql } from 'kysely';
import type { Store } from '../../../platform/db/open.ts';
import { type Finding, fail, ok } from './finding.ts';

type WrongCounterRow = { project_id: number };

/** Returns the projects whose counters differ from the counted rows. */
const findWrongCounters = async ({ db }: Store): Promise<number[]> => {
  const { rows } = await sql<WrongCounterRow>`
    with counted as (
      select project_id,
        max(iid) as iid,
        sum(case when deleted_at is null and state = 'opened' then 1 else 0 end) as opened,
        sum(case when deleted_at is null and state = 'closed' then 1 else 0 end) as closed,
        sum(case when deleted_at is null and state = 'opened' then confidential else 0 end) as opened_confidential,
        sum(case when deleted_at is null and state = 'closed' then confidential else 0 end) as closed_confidential
      from issues group by project_id
    ), requests as (
      select project_id,
        max(iid) as iid,
        sum(case when deleted_at is null and state in ('opened', 'locked') then 1 else 0 end) as opened,
        sum(case when deleted_at is null and state = 'closed' then 1 else 0 end) as closed,
        sum(case when deleted_at is null and state = 'merged' then 1 else 0 end) as merged
      from merge_requests group by project_id
    )
    select projects.id as project_id from projects
      left join project_counters c on c.project_id = projects.id
      left join iid_sequences i on i.project_id = projects.id and i.kind = 'issue'
      left join iid_sequences r on r.project_id = projects.id and r.kind = 'merge_request'
      left join counted on counted.project_id = projects.id
      left join requests on requests.project_id = projects.id
    where c.project_id is null
      or coalesce(i.last, 0) < coalesce(counted.iid, 0)
      or c.opened_issues <> coalesce(counted.opened, 0)
      or c.closed_issues <> coalesce(counted.closed, 0)
      or c.opened_confidential_issues <> coalesce(counted.opened_confidential, 0)
      or c.closed_confidential_issues <> coalesce(counted.closed_confidential, 0)
      or coalesce(r.last, 0) < coalesce(requests.iid, 0)
      or c.opened_merge_requests <> coalesce(requests.opened, 0)
      or c.closed_merge_requests <> coalesce(requests.closed, 0)
      or c.merged_merge_requests <> coalesce(requests.merged, 0)
      or c.star_count <> (select count(*) from project_stars where project_stars.project_id = projects.id)
    order by projects.id limit 10
  `.execute(db);
  return rows.map((row) => row.project_id);
};

export const checkCounters = async (store: Store): Promise<Finding> => {
  const wrong = await findWrongCounters(store);
  if (wrong.length === 0) return ok('counters', 'the counters of all projects are right');
  return fail(
    'counters',
    `wrong in projects ${wrong.join(', ')}`,
    'report it; list totals of these projects are wrong',
  );
};
