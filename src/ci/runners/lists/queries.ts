import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { allOf, anyOf } from '../../../core/access/visible.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { forbidden, notFound } from '../../../platform/errors.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';
import { type RunnerStatus, statusTimes } from '../../jobs/runner_json.ts';
import { selectAncestors } from '../../../identity/namespaces/ancestors.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { editableRunners, managedRunners, seenRunners } from '../access_conditions.ts';
import type { RunnerRow, runnerTypes } from '../rules.ts';

type Condition = RawBuilder<boolean>;

/** A runner with its last address and the viewer's permissions. */
export type SeenRunner = RunnerRow & { ip_address: string | null; manages: 0 | 1; edits: 0 | 1 };

const flag = (condition: Condition) => sql<0 | 1>`case when ${condition} then 1 else 0 end`;

const lastAddress = sql<string | null>`(select ip_address from runner_managers
  where runner_managers.runner_id = runners.id order by contacted_at desc, system_id limit 1)`;

const selectRunners = (db: Reader, viewer: Viewer, dialect: SqlDialect) =>
  db
    .selectFrom('runners')
    .selectAll('runners')
    .select(lastAddress.as('ip_address'))
    .select(flag(managedRunners(viewer, dialect)).as('manages'))
    .select(flag(editableRunners(viewer, dialect)).as('edits'));

type Right = 'see' | 'manage' | 'edit';

/**
 * Finds a runner that the caller sees and on which they have this right.
 * @throws Failure 404 `404 Runner Not Found`, 403
 */
export const findRunner = async (call: Call, id: number, right: Right): Promise<SeenRunner> =>
  allowed(await ofId(call, call.db, id).executeTakeFirst(), right);

/** Like `findRunner`, and locks the row until the transaction ends. */
export const lockRunner = async (call: Call, tx: Tx, id: number, right: Right): Promise<SeenRunner> =>
  allowed(await ofId(call, tx.db, id).modifyEnd(tx.dialect.forUpdate).executeTakeFirst(), right);

const ofId = ({ viewer, platform }: Call, db: Reader, id: number) => {
  const { dialect } = platform.store;
  return selectRunners(db, viewer, dialect).where('runners.id', '=', id).where(seenRunners(viewer, dialect));
};

const allowed = (runner: SeenRunner | undefined, right: Right): SeenRunner => {
  if (runner === undefined) throw notFound('Runner');
  if (right === 'manage' && runner.manages === 0) throw forbidden();
  if (right === 'edit' && runner.edits === 0) throw forbidden();
  return runner;
};

export type RunnerFilters = {
  type?: (typeof runnerTypes)[number] | undefined;
  status?: RunnerStatus | 'active' | 'paused' | undefined;
  paused?: boolean | undefined;
  /** Runners that have all of these tags. */
  tag_list?: readonly string[] | undefined;
};

const byStatus = (status: NonNullable<RunnerFilters['status']>, now: number): Condition => {
  const times = statusTimes(now);
  const stale = sql<boolean>`(created_at < ${times.stale} and coalesce(contacted_at, 0) < ${times.stale})`;
  const conditions = {
    active: sql<boolean>`active = 1`,
    paused: sql<boolean>`active = 0`,
    online: sql<boolean>`contacted_at >= ${times.online}`,
    offline: sql<boolean>`(contacted_at < ${times.online} and not ${stale})`,
    never_contacted: sql<boolean>`(contacted_at is null and not ${stale})`,
    stale,
  };
  return conditions[status];
};

/**
 * Matches a tag in a JSON array of strings, as first or later element. Quotes within a string are escaped by a
 * backslash.
 */
const hasTag = (tag: string): Condition => {
  const text = JSON.stringify(tag);
  const has = (part: string): Condition => sql<boolean>`replace(tag_list, ${part}, '') <> tag_list`;
  return anyOf([has(`[${text}`), has(`,${text}`)]);
};

const toConditions = ({ type, status, paused, tag_list = [] }: RunnerFilters, now: number): Condition[] => [
  ...(type === undefined ? [] : [sql<boolean>`runner_type = ${type}`]),
  ...(status === undefined ? [] : [byStatus(status, now)]),
  ...(paused === undefined ? [] : [sql<boolean>`active = ${paused ? 0 : 1}`]),
  ...tag_list.map(hasTag),
];

/** @param which condition over `runners` */
export const listRunners = async (
  { db, viewer, platform, now }: Call,
  which: Condition,
  filters: RunnerFilters,
  { limit, offset }: PageRequest,
): Promise<Page<SeenRunner>> => {
  const condition = allOf([which, ...toConditions(filters, now)]);
  const { total } = await db
    .selectFrom('runners')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(condition)
    .executeTakeFirstOrThrow();
  const items = await selectRunners(db, viewer, platform.store.dialect)
    .where(condition)
    .orderBy('runners.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return { items, total };
};

const isOfInstance = sql<boolean>`runner_type = 'instance_type'`;

const isOfGroupAbove = (namespaceId: number): Condition =>
  sql<boolean>`runners.id in (select runner_id from runner_groups
    where namespace_id in ${selectAncestors(namespaceId)})`;

/** Condition over `runners`: runners that may run the project's jobs. */
export const runnersForProject = ({
  id,
  namespace_id,
  shared_runners_enabled,
  group_runners_enabled,
}: Project): Condition =>
  anyOf([
    sql<boolean>`runners.id in (select runner_id from runner_projects where project_id = ${id})`,
    ...(group_runners_enabled === 1 ? [isOfGroupAbove(namespace_id)] : []),
    ...(shared_runners_enabled === 1 ? [isOfInstance] : []),
  ]);

/** Condition over `runners`: runners of the group, its parent groups, and the instance. */
export const runnersForGroup = ({ id }: { id: number }): Condition =>
  anyOf([isOfGroupAbove(id), isOfInstance]);
