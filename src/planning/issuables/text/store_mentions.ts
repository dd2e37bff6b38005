import { sql } from 'kysely';
import { loadProjectViewers } from '../../../core/access/project_viewers.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { LoadedTarget, Target } from '../target.ts';
import { findAddressedUsernames, findMentionedUsernames } from './mentions.ts';

const userIdsByName = async (db: Reader, usernames: string[]): Promise<Map<string, number>> => {
  if (usernames.length === 0) return new Map();
  const lower = usernames.map((name) => name.toLowerCase());
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where(sql<string>`lower(username)`, 'in', lower)
    .execute();
  return new Map(rows.map((row) => [row.username.toLowerCase(), row.id]));
};

/**
 * Replaces the mentions that one text of a target makes.
 * @param noteId 0 for the title and description
 */
const replaceMentions = async (
  tx: Tx,
  { type, id }: Target,
  noteId: number,
  userIds: number[],
): Promise<void> => {
  await tx.db
    .deleteFrom('mentions')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where('note_id', '=', noteId)
    .execute();
  if (userIds.length === 0) return;
  const rows = userIds.map((user_id) => ({ target_type: type, target_id: id, note_id: noteId, user_id }));
  await tx.db.insertInto('mentions').values(rows).execute();
};

export type Mentioned = { user_id: number; directly: boolean };

/**
 * Stores the users that a text mentions by `@name`, and returns the ones with access to the target.
 * @param isNew whether the target cannot have mentions of this text yet, which saves a statement
 */
export const storeMentions = async (
  tx: Tx,
  { target, project, isVisibleTo }: LoadedTarget,
  text: { note_id: number; text: string; isNew: boolean },
): Promise<Mentioned[]> => {
  const usernames = findMentionedUsernames(text.text);
  if (usernames.length === 0 && text.isNew) return [];
  const ids = await userIdsByName(tx.db, usernames);
  await replaceMentions(tx, target, text.note_id, [...new Set(ids.values())]);
  const viewers = await loadProjectViewers(tx.db, project, [...ids.values()], tx.now);
  const directly = new Set(findAddressedUsernames(text.text).map((name) => ids.get(name.toLowerCase())));
  return [...viewers.values()]
    .filter((viewer) => isVisibleTo(viewer))
    .map(({ user_id }) => ({ user_id: user_id ?? 0, directly: directly.has(user_id ?? 0) }));
};
