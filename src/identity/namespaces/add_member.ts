import type { Tx } from '../../platform/db/open.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';

export type NewMember = {
  user_id: number;
  access_level: number;
  /** `YYYY-MM-DD`. */
  expires_at?: string | null;
};

/** Adds a member to a project or group. The caller must check that the user is not a member yet. */
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

/** Gives a user at least this role in a project or group, without an expiry date. */
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
  const requested = { access_level: Math.max(row.access_level, access_level), expires_at: null };
  const { changes, data } = compareColumns(row, requested);
  if (Object.keys(changes).length === 0) return;
  await tx.db.updateTable('members').set(changes).where('id', '=', row.id).execute();
  await recordEvent(tx, cause, {
    kind: 'member.updated',
    project_id: source_type === 'Project' ? source_id : null,
    target_type: 'Member',
    target_id: row.id,
    data: { user_id, ...data },
    transient: { source_type, source_id },
  });
};
