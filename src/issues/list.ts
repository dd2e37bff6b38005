/** The three issue lists: one page of issues and the exact number of all that match. */
import { type RawBuilder, sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { today } from '../access/viewer.ts';
import { allOf, hasFeature, seesConfidential, visibleIssues, visibleIssuesIn } from '../access/visible.ts';
import type { JsonText } from '../http/endpoint.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';
import type { Project } from '../projects/find.ts';
import { type Filters, selectionOf, wantedOf } from './filters.ts';
import { type Lead, leadOf } from './lead.ts';
import { lookUp } from './named.ts';
import { keptPage, keptTotal, keptWideTotal } from './pages.ts';
import { searchCondition } from './search.ts';
import { type Version, issueTexts } from './texts.ts';
import { totalOfAll } from './totals.ts';

type Condition = RawBuilder<boolean>;

/** Where a list looks: in one project, in a group with all below it, or everywhere. */
export type Scope = { project: Project } | { group_id: number } | 'everywhere';

type Query = { call: Call; scope: Scope; filters: Filters; page: PageRequest };

const projectOf = (scope: Scope): Project | null =>
  typeof scope === 'object' && 'project' in scope ? scope.project : null;

/** Over `projects`, where a list is not of one project. */
const inGroup = (scope: Scope): Condition[] =>
  typeof scope === 'object' && 'group_id' in scope
    ? [sql`projects.namespace_id in ${descendantsOf(scope.group_id)}`]
    : [];

/** Which issues, and along what they are read. */
type Plan = { lead: Lead; where: Condition };

/** null: nothing has what the filters name. */
const planOf = async ({ call, scope, filters }: Query): Promise<Plan | null> => {
  const { words } = call.platform.store;
  const project = projectOf(scope);
  const userId = userOf(call).id;
  const owner = project && { kind: 'projects' as const, id: project.id, namespace_id: project.namespace_id };
  const wanted = wantedOf(filters, userId);
  const names = await lookUp(call, wanted, owner);
  const selection = selectionOf(filters, { names, words, userId, today: today(call.now) });
  if (selection === null) return null;
  const place = project === null ? 'everywhere' : 'project';
  const lead = leadOf({ filters, selection, words, place }, wanted.period && names('period'));
  const visible =
    project === null
      ? [sql<boolean>`projects.id = issues.project_id`, ...inGroup(scope), visibleIssues(call.viewer, words)]
      : [visibleIssuesIn(call.viewer, project)];
  const search = await searchCondition(call, filters.search ?? '');
  return { lead, where: allOf([...lead.conditions, ...visible, ...search]) };
};

const tables = ({ scope }: Query, { lead }: Plan): RawBuilder<unknown> =>
  projectOf(scope) === null ? sql`${lead.tables} cross join projects` : lead.tables;

const readPage = async (query: Query, plan: Plan): Promise<Version[]> => {
  const { call, filters, page } = query;
  const direction = filters.sort === 'asc' ? sql`asc` : sql`desc`;
  const [first, second] = plan.lead.order;
  const { rows } = await sql<Version>`
    select issues.id, issues.revision from ${tables(query, plan)} where ${plan.where}
    order by ${first} ${direction}, ${second} ${direction}
    limit ${page.limit} offset ${page.offset}`.execute(call.db);
  return rows;
};

const count = async (query: Query, plan: Plan): Promise<number> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${tables(query, plan)} where ${plan.where}`.execute(query.call.db);
  return rows[0]?.total ?? 0;
};

/** Filters that leave every issue of a state in. */
const isPlain = ({ filters }: Query): boolean => {
  const { state: _s, order_by: _o, sort: _d, scope, ...others } = filters;
  return scope === 'all' && Object.values(others).every((value) => value === undefined);
};

/** Exact, after visibility. */
const totalOf = async (query: Query, plan: Plan): Promise<number> => {
  const { call, scope, filters } = query;
  const project = projectOf(scope);
  if (isPlain(query)) return await totalOfAll(call, { project, place: inGroup(scope), state: filters.state });
  if (scope === 'everywhere') return await keptWideTotal(call, wideKeyOf(query), () => count(query, plan));
  if (project === null) return await count(query, plan);
  return await keptTotal(call, project, keyOf(query, project), () => count(query, plan));
};

const read = async (query: Query): Promise<{ versions: Version[]; total: number }> => {
  const plan = await planOf(query);
  if (plan === null) return { versions: [], total: 0 };
  const versions = await readPage(query, plan);
  // A first page that is not full holds all there is.
  const isAll = query.page.page === 1 && versions.length < query.page.limit;
  return { versions, total: isAll ? versions.length : await totalOf(query, plan) };
};

/** All that a list of everywhere depends on, but what the store holds. */
const wideKeyOf = ({ call, filters }: Query): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  return JSON.stringify([userOf(call).id, today(call.now), selecting]);
};

/** All that a list of a project depends on, but its issues and the names that they show. */
const keyOf = ({ call, filters }: Query, project: Project): string => {
  const { order_by: _order, sort: _sort, ...selecting } = filters;
  const viewer = [userOf(call).id, seesConfidential(call.viewer, project)];
  return JSON.stringify([project.id, project.archived, viewer, today(call.now), selecting]);
};

/** A list of issues; empty where the project has no issues for the caller. */
export const listIssues = async (query: Query): Promise<Page<JsonText>> => {
  const { call, scope, filters, page } = query;
  const project = projectOf(scope);
  if (project !== null && !hasFeature(call.viewer, project, 'issues_access_level'))
    return { items: [], total: 0 };
  const shown =
    project && `${keyOf(query, project)} ${filters.order_by} ${filters.sort} ${page.limit} ${page.offset}`;
  const { versions, total } =
    project === null || shown === null
      ? await read(query)
      : await keptPage(call, project, shown, () => read(query));
  return { items: await issueTexts(call, versions), total };
};
