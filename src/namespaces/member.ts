import type { Tx } from '../db/open.ts';
import type { SourceType } from '../db/schema.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { changesOf } from './changes.ts';

export type NewMember = {
  user_id: number;
  access_level: number;
  /** `YYYY-MM-DD`. */
  expires_at?: string | null;
};

/** Makes a user a member of a project or of a group. Whether he is one already is for the caller to ask. */
export const insertMember = async (
  tx: Tx,
  cause: Cause,
  [source_type, source_id]: [SourceType, number],
  { user_id, access_level, expires_at = null }: NewMember,
): Promise<void> => {
  const { id } = await tx.db
    .insertInto('members')
    .values({
      user_id,
      source_type,
      source_id,
      access_level,
      expires_at,
      created_by_id: cause.user.id,
      created_at: tx.now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordEvent(tx, cause, {
    kind: 'member.added',
    project_id: source_type === 'Project' ? source_id : null,
    target_type: 'Member',
    target_id: id,
    data: { source_type, source_id, user_id, access_level, expires_at },
  });
};

/** Gives a user at least this role in a project or a group, without an end. */
export const ensureMember = async (
  tx: Tx,
  cause: Cause,
  [source_type, source_id]: [SourceType, number],
  { user_id, access_level }: Omit<NewMember, 'expires_at'>,
): Promise<void> => {
  const row = await tx.db
    .selectFrom('members')
    .select(['id', 'access_level', 'expires_at'])
    .where('source_type', '=', source_type)
    .where('source_id', '=', source_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  if (row === undefined) {
    return await insertMember(tx, cause, [source_type, source_id], { user_id, access_level });
  }
  const wanted = { access_level: Math.max(row.access_level, access_level), expires_at: null };
  const { changes, data } = changesOf(row, wanted);
  if (Object.keys(changes).length === 0) return;
  await tx.db.updateTable('members').set(changes).where('id', '=', row.id).execute();
  await recordEvent(tx, cause, {
    kind: 'member.updated',
    project_id: source_type === 'Project' ? source_id : null,
    target_type: 'Member',
    target_id: row.id,
    data: { user_id, ...data },
  });
};
