import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { allOf, anyOf, visibleFeature, visibleProjects } from '../../core/access/visible.ts';
import { visibleGroups } from '../../identity/groups/visible.ts';
import { selectDescendants } from '../../identity/namespaces/ancestors.ts';
import type { Reader } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import { containsText } from '../../platform/db/contains_text.ts';
import { countsById } from './counts.ts';
import { type LabelView, labelJson } from './json.ts';
import { type Owner, availableTo, ownedBy } from '../project_or_group/owner.ts';
import type { LabelRow } from './label_row.ts';

type Condition = RawBuilder<boolean>;

export type LabelFilter = {
  search?: string;
  include_ancestor_groups: boolean;
  /** For a group: true to include labels of subgroups. */
  include_descendant_groups?: boolean;
  /** For a group; false: labels of its projects are included. */
  only_group_labels?: boolean;
  order?: LabelOrder;
};

/** Selects the labels of visible groups and projects below a group. */
const below = (call: Call, owner: Owner, filter: LabelFilter): Condition[] => {
  const { include_descendant_groups = false, only_group_labels = true } = filter;
  if (owner.kind === 'projects') return [];
  const { viewer } = call;
  const { dialect } = call.platform.store;
  const groups = selectDescendants(owner.id);
  const place = include_descendant_groups
    ? sql<boolean>`projects.namespace_id in ${groups}`
    : sql<boolean>`projects.namespace_id = ${owner.id}`;
  const features = (['issues_access_level', 'merge_requests_access_level'] as const).map((feature) =>
    visibleFeature(viewer, feature, dialect),
  );
  const projects = allOf([
    place,
    sql`projects.archived = 0`,
    visibleProjects(viewer, dialect),
    anyOf(features),
  ]);
  return [
    ...(include_descendant_groups
      ? [
          sql<boolean>`labels.group_id in (select namespaces.id from namespaces
            where namespaces.id in ${groups} and ${visibleGroups(viewer, dialect)})`,
        ]
      : []),
    ...(only_group_labels
      ? []
      : [sql<boolean>`labels.project_id in (select projects.id from projects where ${projects})`]),
  ];
};

/** Orders of a list. Priority: a project's prioritized labels first, then all others by title. */
const orders = {
  title: sql`labels.title`,
  priority: sql`case when labels.priority is null then 1 else 0 end, labels.priority, labels.title`,
};

export type LabelOrder = keyof typeof orders;

/** Lists labels by title, or in another order, including labels of parent groups unless excluded. */
export const listLabels = async (
  call: Call,
  owner: Owner,
  filter: LabelFilter,
  page: PageRequest,
): Promise<Page<LabelRow>> => {
  const scope = filter.include_ancestor_groups ? availableTo : ownedBy;
  const { order = 'title' } = filter;
  let query = call.db
    .selectFrom('labels')
    .where(anyOf([scope('labels', owner), ...below(call, owner, filter)]));
  if (filter.search !== undefined && filter.search !== '') {
    query = query.where(
      anyOf([containsText('labels.title', filter.search), containsText('labels.description', filter.search)]),
    );
  }
  const ordered = query.selectAll().orderBy(orders[order]).orderBy('id');
  const items = await ordered.limit(page.limit).offset(page.offset).execute();
  return await withTotal(
    page,
    items,
    async () => await query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
};

/** Identifies a label: an id, a title, or a text that is an id or, if no label has that id, a title. */
export type LabelKey = { id: number } | { title: string } | { id_or_title: string };

const toIdAndTitle = (key: LabelKey): { id: number; title: string | null } => {
  if ('id' in key) return { id: key.id, title: null };
  if ('title' in key) return { id: 0, title: key.title };
  return { id: /^\d{1,15}$/.test(key.id_or_title) ? Number(key.id_or_title) : 0, title: key.id_or_title };
};

/**
 * Loads a label. Of two with the same title, the owner's own takes precedence.
 * @param scope `own`: without labels of parent groups
 * @throws Failure 404 `404 Label Not Found`
 */
export const findLabel = async (
  db: Reader,
  owner: Owner,
  key: LabelKey,
  scope: 'own' | 'available',
): Promise<LabelRow> => {
  const { id, title } = toIdAndTitle(key);
  const rows = await db
    .selectFrom('labels')
    .selectAll()
    .where(scope === 'own' ? ownedBy('labels', owner) : availableTo('labels', owner))
    .where((is) => is.or([is('id', '=', id), ...(title === null ? [] : [is('title', '=', title)])]))
    .orderBy('id')
    .execute();
  const isOwn = (label: LabelRow): boolean =>
    (owner.kind === 'projects' ? label.project_id : label.group_id) === owner.id;
  const match = rows.find((label) => label.id === id) ?? rows.find(isOwn) ?? rows[0];
  if (match === undefined) throw notFound('Label');
  return match;
};

/** Lists the labels of the owner and of the groups above it with exactly this title. */
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

/** Renders labels for the caller, in at most three statements. */
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
