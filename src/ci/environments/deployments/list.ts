import type { Reader } from '../../../platform/db/open.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import type { DeploymentRow } from '../queries.ts';

export const deploymentOrders = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const;

export type DeploymentFilter = {
  order_by?: (typeof deploymentOrders)[number] | undefined;
  sort?: 'asc' | 'desc' | undefined;
  environment?: string | undefined;
  status?: DeploymentRow['status'] | undefined;
  updated_after?: number | undefined;
  updated_before?: number | undefined;
  finished_after?: number | undefined;
  finished_before?: number | undefined;
};

const timeBounds = [
  ['updated_after', 'updated_at', '>='],
  ['updated_before', 'updated_at', '<='],
  ['finished_after', 'finished_at', '>='],
  ['finished_before', 'finished_at', '<='],
] as const;

const selectMatching = (db: Reader, projectId: number, filter: DeploymentFilter) => {
  let query = db.selectFrom('deployments').where('deployments.project_id', '=', projectId);
  const { environment, status } = filter;
  if (environment !== undefined) {
    query = query.where('environment_id', 'in', (from) =>
      from
        .selectFrom('environments')
        .select('id')
        .where('project_id', '=', projectId)
        .where('name', '=', environment),
    );
  }
  if (status !== undefined) query = query.where('status', '=', status);
  for (const [name, column, operator] of timeBounds) {
    const bound = filter[name];
    if (bound !== undefined) query = query.where(column, operator, bound);
  }
  return query;
};

export const listDeployments = async (
  db: Reader,
  projectId: number,
  filter: DeploymentFilter,
  { limit, offset }: PageRequest,
): Promise<Page<DeploymentRow>> => {
  const { order_by = 'id', sort = 'asc' } = filter;
  const query = selectMatching(db, projectId, filter);
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy(order_by, sort).orderBy('id', sort).limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};
