/** The three issue lists: one page of issues and the exact number of all that match. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { today } from '../access/viewer.ts';
import { hasFeature, seesConfidential, visibleIssues, visibleIssuesIn } from '../access/visible.ts';
import type { JsonText } from '../http/endpoint.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';
import type { Project } from '../projects/find.ts';
import { type Filters, drivingLabel, every, filterConditions } from './filters.ts';
import { matchesSearch } from './search.ts';
import { type Version, issueTexts, namesVersion } from './texts.ts';
import { cachedTotal } from './totals.ts';

type Condition = RawBuilder<boolean>;

/** Where a list looks: in one project, in a group with all below it, or everywhere. */
export type Scope = { project: Project } | { group_id: number } | 'everywhere';

type Query = { call: Call; scope: Scope; filters: Filters; page: PageRequest };

const placeCondition = (call: Call, scope: Scope): Condition => {
  const { words } = call.platform.store;
  if (scope === 'everywhere') return visibleIssues(call.viewer, words);
  if ('project' in scope) return visibleIssuesIn(call.viewer, scope.project);
  const inGroup = sql<boolean>`projects.namespace_id in ${descendantsOf(scope.group_id)}`;
  return every([inGroup, visibleIssues(call.viewer, words)]);
};

/** Ids of the labels that lead the list; null: read along the issues themselves. */
const drivingLabelIds = async ({ call, filters }: Query): Promise<number[] | null> => {
  const title = drivingLabel(filters);
  if (title === null) return null;
  const rows = await call.db.selectFrom('labels').select('id').where('title', '=', title).execute();
  return rows.map((row) => row.id);
};

type Plan = { where: Condition; drive: number[] | null };

const planOf = async (query: Query): Promise<Plan> => {
  const { call, scope, filters } = query;
  const drive = await drivingLabelIds(query);
  const context = { call, userId: userOf(call).id, today: today(call.now), driven: drive !== null };
  const conditions = [placeCondition(call, scope), ...filterConditions(filters, context)];
  if (filters.search !== undefined) {
    const search = matchesSearch(filters.search, call.platform.store.words.engine);
    if (search !== null) conditions.push(search);
  }
  return { where: every(conditions), drive };
};

const isProject = (scope: Scope): scope is { project: Project } =>
  typeof scope === 'object' && 'project' in scope;

/** The tables of a list. One label's links stand in the order of their issues; several labels are only a filter. */
const tables = ({ scope }: Query, { drive }: Plan): RawBuilder<unknown> => {
  const projects = isProject(scope) ? sql`` : sql`join projects on projects.id = issues.project_id`;
  if (drive === null) return sql`issues ${projects}`;
  return sql`label_links as led join issues on issues.id = led.target_id and led.target_type = 'Issue'
    and led.label_id in (${sql.join(drive)}) ${projects}`;
};

const orderColumns = ({ filters }: Query, { drive }: Plan): [RawBuilder<unknown>, RawBuilder<unknown>] => {
  if (drive?.length === 1) return [sql`led.target_created_at`, sql`led.target_id`];
  return [sql.ref(`issues.${filters.order_by}`), sql`issues.id`];
};

const pageOfIssues = async (query: Query, plan: Plan): Promise<Version[]> => {
  const { call, filters, page } = query;
  const direction = filters.sort === 'asc' ? sql`asc` : sql`desc`;
  const [first, second] = orderColumns(query, plan);
  const { rows } = await sql<Version>`
    select issues.id, issues.revision, ${namesVersion} as names_version
    from ${tables(query, plan)} where ${plan.where}
    order by ${first} ${direction}, ${second} ${direction}
    limit ${page.limit} offset ${page.offset}`.execute(call.db);
  return rows;
};

const countAll = async (query: Query, plan: Plan): Promise<number> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${tables(query, plan)} where ${plan.where}`.execute(query.call.db);
  return rows[0]?.total ?? 0;
};

/** Filters that leave every issue of a state in. */
const isPlain = ({ filters }: Query): boolean => {
  const { state: _s, order_by: _o, sort: _d, scope, ...others } = filters;
  return scope === 'all' && Object.values(others).every((value) => value === undefined);
};

const countersTotal = (project: Project, state: Filters['state']): number => {
  if (state === 'opened') return project.opened_issues;
  if (state === 'closed') return project.closed_issues;
  return project.opened_issues + project.closed_issues;
};

const hasConfidential = (project: Project): boolean =>
  project.opened_confidential_issues + project.closed_confidential_issues > 0;

/** Exact, after visibility: from the project's counters where they tell it, else counted. */
const totalOf = async (query: Query, plan: Plan): Promise<number> => {
  const { call, scope, filters } = query;
  if (!isProject(scope)) return await countAll(query, plan);
  const { project } = scope;
  const seesAll = !hasConfidential(project) || seesConfidential(call.viewer, project);
  if (seesAll && isPlain(query)) return countersTotal(project, filters.state);
  return await cachedTotal(call.platform, project, plan.where, () => countAll(query, plan));
};

/** A list of issues; empty where the project has no issues for the caller. */
export const listIssues = async (query: Query): Promise<Page<JsonText>> => {
  const { call, scope } = query;
  if (isProject(scope) && !hasFeature(call.viewer, scope.project, 'issues_access_level')) {
    return { items: [], total: 0 };
  }
  const plan = await planOf(query);
  if (plan.drive?.length === 0) return { items: [], total: 0 };
  const versions = await pageOfIssues(query, plan);
  const items = await issueTexts(call, versions);
  // A first page that is not full holds all there is.
  const isAll = query.page.page === 1 && versions.length < query.page.limit;
  return { items, total: isAll ? versions.length : await totalOf(query, plan) };
};
