/** Plans how a list is read: the conditions, the index to read along, and whether that may take long. */
import { type RawBuilder, sql } from 'kysely';
import { today } from '../../../core/access/viewer.ts';
import { allOf, anyOf } from '../../../core/access/visible.ts';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import { availableTo, projectOwner } from '../../../projects/project_or_group/owner.ts';
import { selectAncestors, selectDescendants } from '../../../identity/namespaces/ancestors.ts';
import { type Filters, searchedFields } from './filter_params.ts';
import { type Selection, milestoneConditions, buildSelection, toNamedFilters } from './filters.ts';
import { type Lead, isRare, chooseLead, chooseCountLead } from './choose_index.ts';
import { type Listed, column } from './record_kinds.ts';
import { lookUp, many } from './named_filters.ts';
import { isUnindexed, searchCondition } from '../search/search.ts';
import { type Scope, type ListKind, type Query, getProject, getUserId, inGroup } from './list_kind.ts';

type Condition = RawBuilder<boolean>;

/** The records to read, and the index to read them along. */
export type Plan = {
  lead: Lead;
  where: Condition;
  /** Reads the same records without an order. */
  count: { lead: Lead; where: Condition };
  /** Reads the records of one state, project by project; null if the list is of one project. */
  alongProjects: { tables: RawBuilder<unknown>; where: Condition } | null;
  /** True if the list is read from an index that covers all filters. */
  isCovered: boolean;
  /** True if an index selects a small part of the records. */
  isRare: boolean;
  /** True if the search compares every text, so that a page may read all records. */
  comparesTexts: boolean;
};

/** SQL condition over `milestones`: milestones that records in the scope may have. Limits the milestones to read. */
const milestonesIn = (scope: Scope): Condition => {
  if (scope === 'everywhere') return sql`1 = 1`;
  if ('project' in scope) return availableTo('milestones', projectOwner(scope.project));
  const { group_id } = scope;
  const below = selectDescendants(group_id);
  return anyOf([
    sql`milestones.project_id in (select id from projects where namespace_id in ${below})`,
    sql`milestones.group_id in ${below}`,
    sql`milestones.group_id in ${selectAncestors(group_id)}`,
  ]);
};

/** Reads along the projects of a group, to count: they have few of all records, and an index by state. */
const alongProjects = (
  { table }: Listed,
  { required, others }: Selection,
  visible: Condition[],
  { indexedBy }: SqlDialect,
): Plan['alongProjects'] => ({
  tables: sql`projects cross join ${sql.raw(table)} ${indexedBy(`${table}_state_created`)}`,
  where: allOf([...required.map(({ condition }) => condition), ...others, ...visible]),
});

/** Plans the query of a list. Null: a filter names a record that does not exist, so nothing matches. */
export const makePlan = async <F extends Filters>(
  kind: ListKind<F>,
  { call, scope, filters }: Query<F>,
): Promise<Plan | null> => {
  const { dialect } = call.platform.store;
  const project = getProject(scope);
  const userId = getUserId(call);
  const day = today(call.now);
  const onMilestones = milestoneConditions(kind, filters);
  const indexed = [...onMilestones, ...kind.indexed(filters, { isInProject: project !== null, today: day })];
  const requested = toNamedFilters(kind, filters, { userId, project, indexed });
  const names = await lookUp(kind, call, requested, project && projectOwner(project));
  const own = [
    ...onMilestones.map(({ condition }) => condition),
    ...kind.own(filters, { viewer: call.viewer, dialect, today: day }),
  ];
  const context = {
    names,
    dialect,
    userId,
    today: day,
    milestones: () => milestonesIn(scope),
    requested,
    own,
  };
  const selection = buildSelection(kind, filters, context);
  if (selection === null) return null;
  const counted = requested.indexed.map(({ name, index, isCovering = false }) => ({
    index,
    isCovering,
    uses: names('indexed', name).uses,
  }));
  const isInProject = project !== null;
  const parts = { kind, filters, selection, dialect, isInProject, indexed: counted };
  const visible =
    project === null
      ? [
          sql<boolean>`projects.id = ${column(kind, 'project_id')}`,
          ...inGroup(scope),
          kind.visible(call.viewer, dialect),
        ]
      : [kind.visibleIn(call.viewer, project)];
  const search = await searchCondition(call, kind.type, filters.search ?? '', searchedFields(filters));
  const along = (lead: Lead) => ({ lead, where: allOf([...lead.conditions, ...visible, ...search]) });
  const comparesTexts = isUnindexed(call.platform.store, filters.search ?? '');
  return {
    ...along(chooseLead(parts)),
    count: along(chooseCountLead(parts)),
    alongProjects: project === null ? alongProjects(kind, selection, [...visible, ...search], dialect) : null,
    isCovered: counted.some(({ isCovering }) => isCovering),
    isRare: isRare(parts),
    comparesTexts,
  };
};

export const tables = (scope: Scope, { lead }: Pick<Plan, 'lead'>): RawBuilder<unknown> =>
  getProject(scope) === null && lead.hasProjects !== true
    ? sql`${lead.tables} cross join projects`
    : lead.tables;

/** Ratio of the time to compare a text to the time to read an index row. */
const weightOfText = 10;

/** Estimates how many records a read may visit; null if unknown. */
export const getLimit = <F extends Filters>(
  kind: ListKind<F>,
  scope: Scope,
  { isRare: isFew, comparesTexts }: Plan,
): number | null => {
  const project = getProject(scope);
  const records = isFew ? many : project && kind.size(project);
  return records === null ? null : records * (comparesTexts ? weightOfText : 1);
};

/**
 * Records of a project that a page in the main thread may skip: in a covering index, which takes about a millisecond.
 */
const maxSkipped = 20_000;
/** The same for lists of several projects, which look at the project and the visibility of each record. */
const maxSkippedWide = 1_000;

/** Filters by which a page passes over records one by one, unless an index selects few. */
const passingFilters = [
  'closed_after',
  'closed_before',
  'confidential',
  'created_after',
  'created_before',
  'due_date',
  'merged_after',
  'merged_before',
  'my_reaction_emoji',
  'not',
  'or',
  'updated_after',
  'updated_before',
];

/** Returns whether a page may read many more records than it has. */
export const readsMany = (
  { scope, filters, page, passed = 0 }: Pick<Query<Filters>, 'scope' | 'filters' | 'page' | 'passed'>,
  plan: Plan,
): boolean =>
  plan.comparesTexts ||
  plan.lead.isSorted === true ||
  page.offset + passed > (getProject(scope) === null ? maxSkippedWide : maxSkipped) ||
  Object.entries(filters).some(([name, value]) => value !== undefined && passingFilters.includes(name));
