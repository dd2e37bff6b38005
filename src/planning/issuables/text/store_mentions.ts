import { sql } from 'kysely';
import { may } from '../../../core/access/may.ts';
import { loadProjectViewers } from '../../../core/access/project_viewers.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import type { LoadedNoteable, Noteable } from '../target.ts';
import { loadMentionedMembers } from './mentioned_members.ts';
import { findAddressedNames, findMentionedNames } from './mentions.ts';

const userIdsByName = async (db: Reader, names: readonly string[]): Promise<Map<string, number[]>> => {
  const lower = names.filter((name) => !name.includes('/'));
  if (lower.length === 0) return new Map();
  const rows = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where(sql<string>`lower(username)`, 'in', lower)
    .execute();
  return new Map(rows.map((row) => [row.username.toLowerCase(), [row.id]]));
};

/** Loads the users of each lower-case name: a user, or the members of a group. */
export const loadNamedUserIds = async (
  tx: Tx,
  authorId: number,
  names: readonly string[],
): Promise<Map<string, number[]>> => {
  const users = await userIdsByName(tx.db, names);
  const others = names.filter((name) => !users.has(name));
  return new Map([...users, ...(await loadMentionedMembers(tx, authorId, others))]);
};

/**
 * Replaces the mentions that one text of a target makes.
 * @param noteId 0 for the title and description
 */
const replaceMentions = async (
  tx: Tx,
  { type, id }: Noteable,
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

type MentioningText = {
  text: string;
  note_id: number;
  author_id: number;
  isNew: boolean;
  isInternal?: boolean;
};

export type Mentioned = { user_id: number; directly: boolean };

/**
 * Stores the users that a text mentions by `@name` or as members of `@group`, and returns the users with access to the
 * target.
 * @param isInternal true if the text is an internal comment, which mentions only users who may read it
 * @param isNew true if the target cannot have mentions of this text yet, which saves a statement
 */
export const storeMentions = async (
  tx: Tx,
  { target, project, isVisibleTo }: LoadedNoteable,
  { text, note_id, author_id, isNew, isInternal = false }: MentioningText,
): Promise<Mentioned[]> => {
  const names = findMentionedNames(text).map((name) => name.toLowerCase());
  if (names.length === 0 && isNew) return [];
  const ids = await loadNamedUserIds(tx, author_id, names);
  const userIds = [...new Set([...ids.values()].flat())];
  const viewers = await loadProjectViewers(tx.db, project, userIds, tx.now);
  const readers = [...viewers.values()].filter(
    (viewer) => isVisibleTo(viewer) && (!isInternal || may(viewer, 'internal_note', project)),
  );
  const stored = isInternal ? readers.map(({ user_id }) => user_id ?? 0) : userIds;
  await replaceMentions(tx, target, note_id, stored);
  const directly = new Set(findAddressedNames(text).flatMap((name) => ids.get(name.toLowerCase()) ?? []));
  return readers.map(({ user_id }) => ({ user_id: user_id ?? 0, directly: directly.has(user_id ?? 0) }));
};
