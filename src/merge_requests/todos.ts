/** Merge requests as the targets of todos. */
import { visibleMergeRequests } from '../access/visible.ts';
import { todoRenderer } from '../todos/renderer.ts';
import { mergeRequestUrl, todoMergeRequestJson } from './json.ts';
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
