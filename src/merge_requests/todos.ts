/** Merge requests as the targets of todos. */
import { sql } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { visibleMergeRequests } from '../access/visible.ts';
import type { Found } from '../issuables/target.ts';
import { isSubscribed } from '../subscriptions/subscribed.ts';
import { todoRenderer } from '../todos/renderer.ts';
import { reloadMergeRequest } from './find.ts';
import { mergeRequestUrl, todoMergeRequestJson } from './json.ts';
import { selectMergeRequests, withRelations } from './rows.ts';

export const mergeRequestTodos = todoRenderer({
  type: 'MergeRequest',
  visible: ({ viewer, platform }) =>
    sql<boolean>`exists (select 1 from merge_requests join projects on projects.id = merge_requests.project_id
      where merge_requests.id = todos.target_id and ${visibleMergeRequests(viewer, platform.store.words)})`,
  read: async ({ db, viewer, platform }, ids) =>
    await withRelations(
      db,
      await selectMergeRequests(db)
        .where('merge_requests.id', 'in', ids)
        .where(visibleMergeRequests(viewer, platform.store.words))
        .execute(),
    ),
  json: todoMergeRequestJson,
  url: mergeRequestUrl,
});

/** The merge request that a todo was just made on. */
export const todoTarget = async (call: Call, { project, target }: Found): Promise<object> => {
  const { merge_request } = await reloadMergeRequest(call.db, project, target.id);
  const subscribed = await isSubscribed(call.db, userOf(call).id, target);
  return todoMergeRequestJson(merge_request, call, subscribed);
};
