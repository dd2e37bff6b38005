/** Issues as the targets of todos. */
import { sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { visibleIssues } from '../access/visible.ts';
import type { Reader } from '../db/open.ts';
import type { Found } from '../issuables/target.ts';
import type { Project } from '../projects/find.ts';
import { isSubscribed, subscribedTargets } from '../subscriptions/subscribed.ts';
import type { TodoRenderer } from '../todos/queries.ts';
import { reloadIssue } from './find.ts';
import { issueUrl, todoIssueJson } from './json.ts';
import { selectIssues, withRelations } from './rows.ts';

const visible: TodoRenderer['visible'] = ({ viewer, platform }) =>
  sql<boolean>`exists (select 1 from issues join projects on projects.id = issues.project_id
    where issues.id = todos.target_id and ${visibleIssues(viewer, platform.store.words)})`;

const projectsById = async (db: Reader, ids: number[]): Promise<Map<number, Project>> => {
  const rows = await db
    .selectFrom('projects')
    .innerJoin('project_counters', 'project_counters.project_id', 'projects.id')
    .selectAll()
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
};

const render: TodoRenderer['render'] = async (call, ids) => {
  const { db, viewer, platform, baseUrl } = call;
  const rows = await selectIssues(db)
    .where('issues.id', 'in', ids)
    .where(visibleIssues(viewer, platform.store.words))
    .execute();
  if (rows.length === 0) return new Map();
  const [issues, projects] = await Promise.all([
    withRelations(db, rows),
    projectsById(db, [...new Set(rows.map((row) => row.project_id))]),
  ]);
  const targets = issues.map(({ id, author_id, assignees }) => {
    return { id, author_id, assignee_ids: assignees.map((one) => one.id) };
  });
  const subscribed = await subscribedTargets(db, userOf(call).id, 'Issue', targets);
  const rendered = issues.flatMap((issue) => {
    const project = projects.get(issue.project_id);
    const url = issueUrl(baseUrl, issue.project_path, issue.iid);
    if (project === undefined) return [];
    return [
      [issue.id, { json: todoIssueJson(issue, call, subscribed.has(issue.id)), url, project }] as const,
    ];
  });
  return new Map(rendered);
};

export const issueTodos: TodoRenderer = { visible, render };

/** The issue that a todo was just made on. */
export const todoTarget = async (call: Call, { project, target }: Found): Promise<object> => {
  const { issue } = await reloadIssue(call.db, project, target.id);
  return todoIssueJson(issue, call, await isSubscribed(call.db, userOf(call).id, target));
};
