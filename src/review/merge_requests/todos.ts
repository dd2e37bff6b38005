/** Merge requests as the targets of todos. */
import { visibleMergeRequests } from '../../core/access/visible.ts';
import { todoRenderer } from '../../planning/todos/renderer.ts';
import { todoMergeRequestJson } from './json.ts';
import { mergeRequestUrl } from './web_url.ts';
import { selectMergeRequests, withRelations } from './rows.ts';

export const mergeRequestTodos = todoRenderer({
  type: 'MergeRequest',
  table: 'merge_requests',
  visible: visibleMergeRequests,
  read: async (db, ids, isVisible) =>
    await withRelations(
      db,
      await selectMergeRequests(db).where('merge_requests.id', 'in', ids).where(isVisible).execute(),
    ),
  json: (request, call, { subscribed }) => todoMergeRequestJson(request, call, subscribed),
  url: mergeRequestUrl,
});
