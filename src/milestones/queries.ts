import { sql } from 'kysely';
import { anyOf } from '../access/visible.ts';
import type { Reader, Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { type Owner, availableTo, ownedBy } from '../labels/owner.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';
import { contains } from '../namespaces/search.ts';
import { takeIid } from '../projects/take_iid.ts';
import { type MilestoneRow, milestoneOwnerPath } from './json.ts';

const ownerPath = milestoneOwnerPath().as('owner_path');

export type MilestoneFilter = {
  iids?: number[];
  state: 'active' | 'closed' | 'all';
  title?: string;
  search?: string;
  include_ancestors: boolean;
};

/** Milestones, the newest first; with those of the groups above where asked for. */
export const listMilestones = async (
  db: Reader,
  owner: Owner,
  filter: MilestoneFilter,
  { limit, offset }: PageRequest,
): Promise<Page<MilestoneRow>> => {
  const scope = filter.include_ancestors ? availableTo : ownedBy;
  let query = db.selectFrom('milestones').where(scope('milestones', owner));
  if (filter.state !== 'all') query = query.where('state', '=', filter.state);
  if (filter.iids !== undefined && filter.iids.length > 0) query = query.where('iid', 'in', filter.iids);
  if (filter.title !== undefined && filter.title !== '') query = query.where('title', '=', filter.title);
  if (filter.search !== undefined && filter.search !== '') {
    query = query.where(
      anyOf([contains('milestones.title', filter.search), contains('milestones.description', filter.search)]),
    );
  }
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().select(ownerPath).orderBy('id', 'desc').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** A milestone of the owner's own. Failure 404 for any other. */
export const findMilestone = async (db: Reader, owner: Owner, id: number): Promise<MilestoneRow> => {
  const found = await db
    .selectFrom('milestones')
    .selectAll()
    .select(ownerPath)
    .where('id', '=', id)
    .where(ownedBy('milestones', owner))
    .executeTakeFirst();
  if (found === undefined) throw notFound();
  return found;
};

/** Lets one at a time compare titles and take iids of this owner. */
export const lockOwner = async (tx: Tx, { kind, id }: Owner): Promise<void> => {
  const row =
    kind === 'projects'
      ? sql`select id from projects where id = ${id}`
      : sql`select id from namespaces where id = ${id}`;
  await sql`${row} ${tx.words.forUpdate}`.execute(tx.db);
};

/** Over `milestones`: those which may not share a title with one of this owner. */
const neighbours = (owner: Owner) => {
  const inherited = availableTo('milestones', owner);
  if (owner.kind === 'projects') return inherited;
  const below = sql`select id from projects where namespace_id in ${descendantsOf(owner.id)}`;
  return sql<boolean>`(${inherited} or milestones.project_id in (${below}))`;
};

/** Whether another milestone of the owner, of a group above it or of a project below it has this title. */
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

/** The owner's next iid; the owner must be locked. */
export const takeMilestoneIid = async (tx: Tx, owner: Owner): Promise<number> => {
  if (owner.kind === 'projects') return await takeIid(tx, owner.id, 'milestone');
  const { last } = await tx.db
    .selectFrom('milestones')
    .select((is) => is.fn.max('iid').as('last'))
    .where('group_id', '=', owner.id)
    .executeTakeFirstOrThrow();
  return (last ?? 0) + 1;
};
