/** Lists the participants of an issue or a merge request: author, assignees, reviewers, commenters and mentioned users. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { loadProjectViewers } from '../../core/access/project_viewers.ts';
import { may } from '../../core/access/may.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { basicUser, basicUsersById } from '../../identity/users/json.ts';
import type { LoadedTarget, Target } from './target.ts';

const maxParticipants = 1_000;

type Key = Pick<Target, 'type' | 'id'>;

/** @param isReader whether internal comments count */
const selectParticipants = (isReader: boolean) =>
  compiled((db, { type, id }: Key) => {
    const here = sql`target_type = ${type} and target_id = ${id}`;
    const shown = isReader ? sql`` : sql`and internal = 0`;
    const shownMentions = isReader
      ? sql``
      : sql`and note_id not in (select id from notes where ${here} and internal = 1)`;
    return sql<{ user_id: number }>`
      select author_id as user_id from notes where ${here} and system = 0 ${shown}
      union select user_id from mentions where ${here} ${shownMentions}
      union select user_id from assignees where ${here}
      union select user_id from reviewers where ${here}
      order by user_id limit ${sql.lit(maxParticipants)}`.compile(db);
  });

const selectForReaders = selectParticipants(true);
const selectForOthers = selectParticipants(false);

/** Lists the participants with access to the record, if the caller can see why they participate. */
export const listParticipants = async (
  call: Call,
  { target, project, isVisibleTo }: LoadedTarget,
  { limit, offset }: PageRequest,
): Promise<Page<ReturnType<typeof basicUser>>> => {
  const isReader = may(call.viewer, 'internal_note', project);
  const select = isReader ? selectForReaders : selectForOthers;
  const rows = await select(call.db, { type: target.type, id: target.id });
  const others = rows.map(({ user_id }) => user_id).filter((id) => id !== target.author_id);
  const ids = [target.author_id, ...others];
  const viewers = await loadProjectViewers(call.db, project, ids, call.now);
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
