/** Counts the issues that a viewer sees, from the projects' counters, which triggers keep exact. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { levels } from '../../../core/access/levels.ts';
import {
  allOf,
  ownIssue,
  projectsAtLeast,
  canSeeConfidential,
  visibleFeature,
  visibleProjects,
} from '../../../core/access/visible.ts';
import type { TotalQuery } from '../../issuables/lists/list_kind.ts';
import type { Project } from '../../../projects/projects/find.ts';

type Condition = RawBuilder<boolean>;

const counted = (state: string): { all: RawBuilder<number>; confidential: RawBuilder<number> } => {
  const states = state === 'all' ? ['opened', 'closed'] : [state];
  const sum = (suffix: string): RawBuilder<number> =>
    sql`(${sql.join(
      states.map((one) => sql.ref(`project_counters.${one}${suffix}`)),
      sql` + `,
    )})`;
  return { all: sum('_issues'), confidential: sum('_confidential_issues') };
};

type Sums = { shown: number | null; hidden: number | null };

/** Counts confidential issues that the caller sees only as their author or assignee. */
const ownConfidential = async (call: Call, where: Condition[], state: string): Promise<number> => {
  const ofState = state === 'all' ? [] : [sql<boolean>`issues.state = ${state}`];
  const confidential = sql<boolean>`issues.confidential = 1 and issues.deleted_at is null`;
  const conditions = allOf([...where, confidential, ownIssue(call.viewer), ...ofState]);
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from projects cross join issues
    where issues.project_id = projects.id and ${conditions}`.execute(call.db);
  return rows[0]?.total ?? 0;
};

/** Exact total of visible issues. Reads confidential issues only if some are hidden from the caller. */
export const totalOfAll = async (call: Call, { project, place, state }: TotalQuery): Promise<number> => {
  const { dialect } = call.platform.store;
  const of = project === null ? place : [sql<boolean>`projects.id = ${project.id}`];
  if (project !== null && canSeeConfidential(call.viewer, project)) return ofProject(project, state);
  const { all, confidential } = counted(state);
  const trusted = projectsAtLeast(call.viewer, levels.reporter, dialect);
  const visible = [
    ...of,
    visibleProjects(call.viewer, dialect),
    visibleFeature(call.viewer, 'issues_access_level', dialect),
  ];
  const { rows } = await sql<Sums>`
    select sum(case when ${trusted} then ${all} else ${all} - ${confidential} end) as shown,
      sum(case when ${trusted} then 0 else ${confidential} end) as hidden
    from projects join project_counters on project_counters.project_id = projects.id
    where ${allOf(visible)}`.execute(call.db);
  const { shown, hidden } = rows[0] ?? { shown: 0, hidden: 0 };
  const own = (hidden ?? 0) === 0 ? 0 : await ownConfidential(call, [...visible, sql`not ${trusted}`], state);
  return (shown ?? 0) + own;
};

const ofProject = (project: Project, state: string): number => {
  if (state === 'opened') return project.opened_issues;
  if (state === 'closed') return project.closed_issues;
  return project.opened_issues + project.closed_issues;
};
