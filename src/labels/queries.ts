import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import { anyOf } from '../access/visible.ts';
import type { Reader } from '../db/open.ts';
import type { LabelsTable } from '../db/schema.ts';
import { notFound } from '../errors.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { contains } from '../namespaces/search.ts';
import { countsById } from './counts.ts';
import { type LabelView, labelJson } from './json.ts';
import { type Owner, availableTo, ownedBy } from './owner.ts';

export type LabelRow = Selectable<LabelsTable>;

export type LabelFilter = { search?: string; include_ancestor_groups: boolean };

/** Labels by title; with those of the groups above unless they are left out. */
export const listLabels = async (
  db: Reader,
  owner: Owner,
  filter: LabelFilter,
  { limit, offset }: PageRequest,
): Promise<Page<LabelRow>> => {
  const scope = filter.include_ancestor_groups ? availableTo : ownedBy;
  let query = db.selectFrom('labels').where(scope('labels', owner));
  if (filter.search !== undefined && filter.search !== '') {
    query = query.where(
      anyOf([contains('labels.title', filter.search), contains('labels.description', filter.search)]),
    );
  }
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('title').orderBy('id').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** Which label is meant: by its title, or by a text that is its id or, where no label has that id, its title. */
export type LabelKey = { title: string } | { id_or_title: string };

/**
 * The label that is meant; of two with one title the owner's own.
 * @param scope `own`: without those of the groups above
 * @throws Failure 404 `404 Label Not Found`
 */
export const findLabel = async (
  db: Reader,
  owner: Owner,
  key: LabelKey,
  scope: 'own' | 'available',
): Promise<LabelRow> => {
  const title = 'title' in key ? key.title : key.id_or_title;
  const id = 'id_or_title' in key && /^\d{1,15}$/.test(title) ? Number(title) : 0;
  const rows = await db
    .selectFrom('labels')
    .selectAll()
    .where(scope === 'own' ? ownedBy('labels', owner) : availableTo('labels', owner))
    .where((is) => is.or([is('id', '=', id), is('title', '=', title)]))
    .orderBy('id')
    .execute();
  const isOwn = (label: LabelRow): boolean =>
    (owner.kind === 'projects' ? label.project_id : label.group_id) === owner.id;
  const found = rows.find((label) => label.id === id) ?? rows.find(isOwn) ?? rows[0];
  if (found === undefined) throw notFound('Label');
  return found;
};

/** The labels of the owner and of the groups above it with exactly this title. */
export const labelsTitled = async (db: Reader, owner: Owner, title: string): Promise<LabelRow[]> =>
  await db
    .selectFrom('labels')
    .selectAll()
    .where(availableTo('labels', owner))
    .where('title', '=', title)
    .execute();

const subscribedIds = async ({ db, viewer }: Call, ids: number[]): Promise<Set<number>> => {
  if (viewer.user_id === null) return new Set();
  const rows = await db
    .selectFrom('subscriptions')
    .select('target_id')
    .where('user_id', '=', viewer.user_id)
    .where('target_type', '=', 'Label')
    .where('target_id', 'in', ids)
    .where('subscribed', '=', 1)
    .execute();
  return new Set(rows.map((row) => row.target_id));
};

/** Labels as the caller sees them, in three statements at most. */
export const renderLabels = async (call: Call, labels: LabelRow[], withCounts: boolean) => {
  if (labels.length === 0) return [];
  const ids = labels.map((label) => label.id);
  const [counts, subscribed] = await Promise.all([
    withCounts ? countsById(call, ids) : null,
    subscribedIds(call, ids),
  ]);
  return labels.map((label) => {
    const view: LabelView = { counts: counts?.get(label.id) ?? null, subscribed: subscribed.has(label.id) };
    return labelJson(label, view);
  });
};

export const renderLabel = async (call: Call, label: LabelRow) =>
  (await renderLabels(call, [label], true))[0];
