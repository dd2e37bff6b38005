import type { Store, Tx } from '../../platform/db/open.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';

type Which = { family: string } | { id: number } | { user_id: number; application_id: number | null };

/**
 * Revokes OAuth tokens with their refresh tokens: the tokens of one authorization, or all tokens of an application for
 * a user.
 * @param reason for the audit log
 */
export const revokeTokens = async (
  tx: Tx,
  cause: Cause | null,
  source: Source,
  { reason, ...which }: Which & { reason: string },
): Promise<void> => {
  let query = tx.db.updateTable('tokens').set({ revoked: 1 }).where('kind', '=', 'oauth');
  for (const [name, value] of Object.entries(which)) {
    query =
      value === null
        ? query.where(name as 'id', 'is', null)
        : query.where(name as 'id', '=', value as number);
  }
  const ended = await query.where('revoked', '=', 0).returning(['id', 'user_id', 'application_id']).execute();
  for (const { id, user_id, application_id } of ended) {
    const target = { target_type: 'Token', target_id: id };
    const data = { user_id, kind: 'oauth', application_id, reason };
    await recordEvent(tx, cause, { kind: 'token.revoked', project_id: null, ...target, data });
    await recordAudit(tx, cause, source, { kind: 'token.revoked', ...target, details: data });
  }
};

/**
 * Revokes all that a user granted to an application.
 * @param application_id null: clients that used the password and named no application
 */
export const revokeAuthorization = async (
  { write }: Pick<Store, 'write'>,
  cause: Cause,
  source: Source,
  application_id: number | null,
): Promise<void> =>
  await write(async (tx) => {
    const which = { user_id: cause.user.id, application_id };
    await tx.db
      .deleteFrom('oauth_grants')
      .where('user_id', '=', which.user_id)
      .where('application_id', '=', application_id ?? 0)
      .execute();
    await revokeTokens(tx, cause, source, { ...which, reason: 'by the user' });
  });
