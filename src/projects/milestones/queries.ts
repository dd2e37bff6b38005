import { type RawBuilder, sql } from 'kysely';
import { allOf, anyOf } from '../../core/access/visible.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import { type Owner, availableTo, ownedBy, ownerTurn } from '../project_or_group/owner.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { iidTurn, takeIid } from '../projects/take_iid.ts';
import { type MilestoneRow, milestoneOwnerPath } from './json.ts';

const ownerPath = milestoneOwnerPath().as('owner_path');

export type MilestoneFilter = {
  iids?: number[];
  state: 'active' | 'closed' | 'all';
  title?: string;
  search?: string;
  search_title?: string;
  include_ancestors: boolean;
  include_parent_milestones: boolean;
  containing_date?: string;
  start_date?: string;
  end_date?: string;
  updated_after?: number;
  updated_before?: number;
  order?: MilestoneOrder;
};

/** Orders of a list. Milestones without a due date are last. */
const orders = {
  newest: sql`milestones.id desc`,
  oldest: sql`milestones.id`,
  due: sql`case when milestones.due_date is null then 1 else 0 end, milestones.due_date, milestones.id`,
};

type MilestoneOrder = keyof typeof orders;

/** Condition: overlaps the period between two days. A milestone without dates never does. */
const isInPeriod = (from: string | undefined, to: string | undefined): (RawBuilder<boolean> | null)[] => [
  from === undefined && to === undefined
    ? null
    : sql`(milestones.start_date is not null or milestones.due_date is not null)`,
  from === undefined ? null : sql`(milestones.due_date is null or milestones.due_date >= ${from})`,
  to === undefined ? null : sql`(milestones.start_date is null or milestones.start_date <= ${to})`,
];

const makeConditions = (
  filter: Omit<MilestoneFilter, 'include_ancestors' | 'include_parent_milestones'>,
): RawBuilder<boolean>[] => {
  const { iids = [], state, title = '', search = '', search_title = '', containing_date } = filter;
  const { start_date, end_date, updated_after, updated_before } = filter;
  const searched = (column: 'title' | 'description', text: string) =>
    containsText(`milestones.${column}`, text);
  const conditions: (RawBuilder<boolean> | null)[] = [
    state === 'all' ? null : sql`milestones.state = ${state}`,
    iids.length === 0 ? null : sql`milestones.iid in (${sql.join(iids)})`,
    title === '' ? null : sql`milestones.title = ${title}`,
    search === '' ? null : anyOf([searched('title', search), searched('description', search)]),
    search_title === '' ? null : searched('title', search_title),
    ...isInPeriod(containing_date, containing_date),
    ...isInPeriod(start_date, end_date),
    updated_after === undefined ? null : sql`milestones.updated_at >= ${updated_after}`,
    updated_before === undefined ? null : sql`milestones.updated_at <= ${updated_before}`,
  ];
  return conditions.filter((condition) => condition !== null);
};

/** Lists milestones, newest first or in another order, with milestones of parent groups on request. */
export const listMilestones = async (
  db: Reader,
  owner: Owner,
  filter: MilestoneFilter,
  page: PageRequest,
): Promise<Page<MilestoneRow>> => {
  const scope = filter.include_ancestors || filter.include_parent_milestones ? availableTo : ownedBy;
  return await selectMilestones(db, scope('milestones', owner), filter, page);
};

/** Like `listMilestones`, for several owners. @param within over `milestones`: milestones that the viewer sees */
export const selectMilestones = async (
  db: Reader,
  within: RawBuilder<boolean>,
  filter: Omit<MilestoneFilter, 'include_ancestors' | 'include_parent_milestones'>,
  page: PageRequest,
): Promise<Page<MilestoneRow>> => {
  const query = db.selectFrom('milestones').where(allOf([within, ...makeConditions(filter)]));
  const items = await query
    .selectAll()
    .select(ownerPath)
    .orderBy(orders[filter.order ?? 'newest'])
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return await withTotal(
    page,
    items,
    async () => await query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
};

const findOwn = async (
  db: Reader,
  owner: Owner,
  column: 'id' | 'iid',
  value: number,
): Promise<MilestoneRow> => {
  const milestone = await db
    .selectFrom('milestones')
    .selectAll()
    .select(ownerPath)
    .where(column, '=', value)
    .where(ownedBy('milestones', owner))
    .executeTakeFirst();
  if (milestone === undefined) throw notFound();
  return milestone;
};

/** Loads a milestone of the owner. @throws Failure 404 for any other */
export const findMilestone = async (db: Reader, owner: Owner, id: number): Promise<MilestoneRow> =>
  await findOwn(db, owner, 'id', id);

/** Like `findMilestone`, by the number in its URL. */
export const findMilestoneByIid = async (db: Reader, owner: Owner, iid: number): Promise<MilestoneRow> =>
  await findOwn(db, owner, 'iid', iid);

/**
 * Locks the owner's milestones, so that one transaction at a time compares titles and takes iids. A project's are
 * locked by their sequence: its own row is locked while pipelines are created.
 */
export const lockMilestones = async (tx: Tx, { kind, id }: Owner): Promise<void> => {
  const row =
    kind === 'projects'
      ? sql`select last from iid_sequences where project_id = ${id} and kind = 'milestone'`
      : sql`select id from namespaces where id = ${id}`;
  await sql`${row} ${tx.dialect.forUpdate}`.execute(tx.db);
};

/** Returns the turn of transactions that lock the owner's milestones (`Write`). */
export const milestonesTurn = (owner: Owner): string =>
  owner.kind === 'projects' ? iidTurn(owner.id, 'milestone') : ownerTurn(owner);

/** Over `milestones`: milestones that must not share a title with a milestone of this owner. */
const neighbours = (owner: Owner) => {
  const inherited = availableTo('milestones', owner);
  if (owner.kind === 'projects') return inherited;
  const below = sql`select id from projects where namespace_id in ${selectDescendants(owner.id)}`;
  return sql<boolean>`(${inherited} or milestones.project_id in (${below}))`;
};

/** Returns whether another milestone of the owner, of a group above or of a project below has this title. */
export const isTitleTaken = async (
  db: Reader,
  owner: Owner,
  title: string,
  exceptId: number,
): Promise<boolean> => {
  const row = await db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where('id', '<>', exceptId)
    .where(neighbours(owner))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Takes the owner's next iid, and locks its milestones. */
export const takeMilestoneIid = async (tx: Tx, owner: Owner): Promise<number> => {
  if (owner.kind === 'projects') return await takeIid(tx, owner.id, 'milestone');
  await lockMilestones(tx, owner);
  const { last } = await tx.db
    .selectFrom('milestones')
    .select((is) => is.fn.max('iid').as('last'))
    .where('group_id', '=', owner.id)
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
};
