/** Issues as the targets of todos. */
import { visibleIssues } from '../../core/access/visible.ts';
import { todoRenderer } from '../todos/renderer.ts';
import { todoIssueJson } from './json.ts';
import { issueUrl } from './web_url.ts';
import { selectIssues, withRelations } from './rows.ts';
import { limitToViewer } from './viewer_fields.ts';

export const issueTodos = todoRenderer({
  type: 'Issue',
  table: 'issues',
  visible: visibleIssues,
  read: async (db, ids, isVisible) =>
    await withRelations(db, await selectIssues(db).where('issues.id', 'in', ids).where(isVisible).execute()),
  json: (issue, call, { project, subscribed }) =>
    todoIssueJson(limitToViewer(call.viewer, project, issue), call, subscribed),
  url: issueUrl,
});
