/** Who takes part in an issue or a merge request: its author, assignees, reviewers, who commented, and who is mentioned. */
import { sql } from 'kysely';
import type { Call } from '../access/call.ts';
import { viewersOfProject } from '../access/viewers_of.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { basicUser, basicUsersById } from '../users/json.ts';
import type { Found } from './target.ts';

const mostParticipants = 1_000;

/** Only those who may still see it. */
export const listParticipants = async (
  call: Call,
  { target, project, isVisibleTo }: Found,
  { limit, offset }: PageRequest,
): Promise<Page<ReturnType<typeof basicUser>>> => {
  const here = sql`target_type = ${target.type} and target_id = ${target.id}`;
  const { rows } = await sql<{ user_id: number }>`
    select author_id as user_id from notes where ${here} and system = 0
    union select user_id from mentions where ${here}
    union select user_id from assignees where ${here}
    union select user_id from reviewers where ${here}
    order by user_id limit ${mostParticipants}`.execute(call.db);
  const others = rows.map(({ user_id }) => user_id).filter((id) => id !== target.author_id);
  const ids = [target.author_id, ...others];
  const viewers = await viewersOfProject(call.db, project, ids, call.now);
  const seen = ids.filter((id) => {
    const viewer = viewers.get(id);
    return viewer !== undefined && isVisibleTo(viewer);
  });
  const page = seen.slice(offset, offset + limit);
  const users = await basicUsersById(call.db, page);
  const items = page.flatMap((id) => {
    const user = users.get(id);
    return user === undefined ? [] : [basicUser(user, call)];
  });
  return { items, total: seen.length };
};
