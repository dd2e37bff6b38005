/** Issues as the targets of todos. */
import { sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { visibleIssues } from '../access/visible.ts';
import type { Found } from '../issuables/target.ts';
import { isSubscribed } from '../subscriptions/subscribed.ts';
import { todoRenderer } from '../todos/renderer.ts';
import { reloadIssue } from './find.ts';
import { issueUrl, todoIssueJson } from './json.ts';
import { selectIssues, withRelations } from './rows.ts';

export const issueTodos = todoRenderer({
  type: 'Issue',
  visible: ({ viewer, platform }) =>
    sql<boolean>`exists (select 1 from issues join projects on projects.id = issues.project_id
      where issues.id = todos.target_id and ${visibleIssues(viewer, platform.store.words)})`,
  read: async ({ db, viewer, platform }, ids) =>
    await withRelations(
      db,
      await selectIssues(db)
        .where('issues.id', 'in', ids)
        .where(visibleIssues(viewer, platform.store.words))
        .execute(),
    ),
  json: todoIssueJson,
  url: issueUrl,
});

/** The issue that a todo was just made on. */
export const todoTarget = async (call: Call, { project, target }: Found): Promise<object> => {
  const { issue } = await reloadIssue(call.db, project, target.id);
  return todoIssueJson(issue, call, await isSubscribed(call.db, userOf(call).id, target));
};
