/** Issues as the targets of todos. */
import { visibleIssues } from '../access/visible.ts';
import { todoRenderer } from '../todos/renderer.ts';
import { issueUrl, todoIssueJson } from './json.ts';
import { selectIssues, withRelations } from './rows.ts';
import { seenIssue } from './seen.ts';

export const issueTodos = todoRenderer({
  type: 'Issue',
  table: 'issues',
  visible: visibleIssues,
  read: async (db, ids, isVisible) =>
    await withRelations(db, await selectIssues(db).where('issues.id', 'in', ids).where(isVisible).execute()),
  json: (issue, call, { project, subscribed }) =>
    todoIssueJson(seenIssue(call.viewer, project, issue), call, subscribed),
  url: issueUrl,
});
