import type { Selectable } from 'kysely';
import { anyOf } from '../../core/access/visible.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { DeploymentsTable, EnvironmentsTable } from '../../platform/db/schema/environments.ts';
import { notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { takeIid } from '../../projects/projects/take_iid.ts';
import { type Tier, toEnvironmentSlug, guessTier } from './slug_and_tier.ts';

export type EnvironmentRow = Selectable<EnvironmentsTable>;
export type DeploymentRow = Selectable<DeploymentsTable>;

export type EnvironmentFilter = {
  name?: string | undefined;
  search?: string | undefined;
  states?: EnvironmentRow['state'] | undefined;
};

export const selectMatching = (
  db: Reader,
  projectId: number,
  { name, search, states }: EnvironmentFilter,
) => {
  let query = db.selectFrom('environments').where('project_id', '=', projectId);
  if (name !== undefined) query = query.where('name', '=', name);
  if (search !== undefined && search !== '')
    query = query.where(anyOf([containsText('environments.name', search)]));
  if (states !== undefined) query = query.where('state', '=', states);
  return query;
};

export const listEnvironments = async (
  db: Reader,
  projectId: number,
  { name, search, states }: EnvironmentFilter,
  { limit, offset }: PageRequest,
): Promise<Page<EnvironmentRow>> => {
  const query = selectMatching(db, projectId, { name, search, states });
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** @throws Failure 404 */
export const findEnvironment = async (db: Reader, projectId: number, id: number): Promise<EnvironmentRow> => {
  const row = await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};

/** Like `findEnvironment`, with a row lock until the transaction ends. */
export const lockEnvironment = async (tx: Tx, projectId: number, id: number): Promise<EnvironmentRow> => {
  const row = await tx.db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};

/** Locks the environment of this name and creates it if it is missing. */
export const ensureEnvironment = async (
  tx: Tx,
  projectId: number,
  { name, tier }: { name: string; tier?: Tier | undefined },
): Promise<EnvironmentRow> => {
  const row = {
    project_id: projectId,
    name,
    slug: toEnvironmentSlug(name),
    external_url: null,
    state: 'available' as const,
    tier: tier ?? guessTier(name),
    description: null,
    auto_stop_at: null,
    created_at: tx.now,
    updated_at: tx.now,
  };
  await insertRows(tx.db, 'environments', [row], 'on conflict do nothing');
  return await tx.db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirstOrThrow();
};

/** Loads the last successful deployment of each environment. */
export const loadLastDeployments = async (
  db: Reader,
  environmentIds: readonly number[],
): Promise<DeploymentRow[]> =>
  environmentIds.length === 0
    ? []
    : await db
        .selectFrom('deployments')
        .selectAll()
        .where('id', 'in', (is) =>
          is
            .selectFrom('deployments')
            .select(({ fn }) => fn.max('id').as('id'))
            .where('environment_id', 'in', environmentIds)
            .where('status', '=', 'success')
            .groupBy('environment_id'),
        )
        .execute();

/** Loads the last successful deployment of an environment; null if there is none. */
export const loadLastDeployment = async (db: Reader, environmentId: number): Promise<DeploymentRow | null> =>
  (await db
    .selectFrom('deployments')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null;

/** @throws Failure 404 */
export const findDeployment = async (db: Reader, projectId: number, id: number): Promise<DeploymentRow> => {
  const row = await db
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound();
  return row;
};

/** Inserts a deployment and returns its row. */
export const insertDeployment = async (
  tx: Tx,
  input: Pick<
    DeploymentRow,
    'project_id' | 'environment_id' | 'job_id' | 'user_id' | 'ref' | 'tag' | 'sha' | 'status'
  >,
): Promise<DeploymentRow> => {
  const iid = await takeIid(tx, input.project_id, 'deployment');
  const row = {
    ...input,
    iid,
    created_at: tx.now,
    updated_at: tx.now,
    finished_at: ['success', 'failed', 'canceled'].includes(input.status) ? tx.now : null,
  };
  return await tx.db.insertInto('deployments').values(row).returningAll().executeTakeFirstOrThrow();
};
