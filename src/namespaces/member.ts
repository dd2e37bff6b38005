import type { Tx } from '../db/open.ts';
import type { SourceType } from '../db/schema.ts';
import { type Cause, recordEvent } from '../events/record.ts';

export type NewMember = {
  user_id: number;
  access_level: number;
  /** `YYYY-MM-DD`. */
  expires_at?: string | null;
};

/** Makes a user a member of a project who is at least this. */
export const ensureMember = async (
  tx: Tx,
  cause: Cause,
  [source_type, source_id]: [SourceType, number],
  member: NewMember,
): Promise<void> => {
  const present = tx.db
    .selectFrom('members')
    .select(['id', 'access_level', 'expires_at'])
    .where('source_type', '=', source_type)
    .where('source_id', '=', source_id)
    .where('user_id', '=', member.user_id);
  const row = await present.executeTakeFirst();
  if (row === undefined) return await insertMember(tx, cause, [source_type, source_id], member);
  const access_level = Math.max(row.access_level, member.access_level);
  await tx.db
    .updateTable('members')
    .set({ access_level, expires_at: null })
    .where('id', '=', row.id)
    .execute();
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
